// Which Asio the headers of heist/asio use: Boost's, or the standalone one if HEIST_ASIO_STANDALONE
// is defined. Names that depend on it stand in an inline namespace, so that a program may use both.
#pragma once

#include <heist/version.hpp>

#ifdef HEIST_ASIO_STANDALONE
#include <asio/any_io_executor.hpp>
#include <asio/associated_cancellation_slot.hpp>
#include <asio/associated_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/dispatch.hpp>
#include <asio/error.hpp>
#include <asio/execution.hpp>
#include <asio/execution_context.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/post.hpp>
#include <asio/prefer.hpp>
#include <asio/query.hpp>
#include <asio/require.hpp>
#include <asio/strand.hpp>
#include <asio/system_error.hpp>
#include <asio/system_executor.hpp>
#include <asio/version.hpp>
#define HEIST_ASIO_NAMESPACE HEIST_NAMESPACE::asio::inline on_standalone_asio
#define HEIST_ASIO_LIBRARY_NAMESPACE asio
#define HEIST_ASIO_LIBRARY_VERSION ASIO_VERSION
#else
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/version.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>
#define HEIST_ASIO_NAMESPACE HEIST_NAMESPACE::asio::inline on_boost_asio
#define HEIST_ASIO_LIBRARY_NAMESPACE boost::asio
#define HEIST_ASIO_LIBRARY_VERSION BOOST_ASIO_VERSION
#endif

namespace HEIST_ASIO_NAMESPACE {

#ifdef HEIST_ASIO_STANDALONE
namespace net = ::asio;
using error_code = std::error_code;
using system_error = std::system_error;
#else
namespace net = ::boost::asio;
using error_code = boost::system::error_code;
using system_error = boost::system::system_error;
#endif

}  // namespace HEIST_ASIO_NAMESPACE
