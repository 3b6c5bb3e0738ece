"""A recipe for Conan 2, which packs the sources that it lies in. Nobody has run it yet: it was written from Conan's
documentation.

usage: conan create cmake/ports/conan --build=missing
"""

import os

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain
from conan.tools.files import copy


class Heist(ConanFile):
    name = "heist"
    version = "0.1.0"
    description = "Prioritised task scheduling on event loops, after the web's scheduler.postTask"
    license = "Apache-2.0"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False]}
    default_options = {"shared": False}
    requires = "onetbb/[>=2021.8]"
    tool_requires = "concurrentqueue/[>=1.0.3]"  # headers that only its sources include

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..", "..")
        for wanted in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*"):
            copy(self, wanted, src=root, dst=self.export_sources_folder)

    def generate(self):
        # heist includes these headers as concurrentqueue/..., wherever the package has them.
        packed = self.dependencies.build["concurrentqueue"].package_folder
        headers = os.path.join(self.build_folder, "headers")
        copy(self, "*.h", src=packed, dst=os.path.join(headers, "concurrentqueue"), keep_path=False)
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["HEIST_CONCURRENTQUEUE"] = headers
        toolchain.cache_variables["CMAKE_UNITY_BUILD"] = True
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", src=self.source_folder, dst=os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        # The files that heist installs for find_package say the rest.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "heist")]
