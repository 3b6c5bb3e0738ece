"""The history of a cluster by the jobs' ids, and by what befell each process."""

import collections

from facts import Facts

LEASE = 12  # seconds
AFTERMATH = 2  # seconds that a process needs to go on after a fault: it connects anew, and claims
FOREVER = float("inf")


def joined(spans, gap=0):
    """Spans of time, those made one that have no more than a gap between them."""
    found = []
    for begin, end in sorted(spans):
        if found and begin <= found[-1][1] + gap:
            found[-1][1] = max(found[-1][1], end)
        else:
            found.append([begin, end])
    return found


class ClusterFacts(Facts):
    def __init__(self, history):
        super().__init__(history)
        self.runs = collections.defaultdict(list)  # by id, in the order of their begins
        for run in sorted(history.runs, key=lambda run: run.begin):
            self.runs[run.id].append(run)
        self.processes = {process.number: process for process in history.processes}
        self._hurt = {}

    def starts_of(self, id):
        """What the base class knows as starts has no attempts."""
        return ()

    def events(self, id):
        lines = super().events(id)
        for run in self.runs[id]:
            end = f"{run.end:.3f}" if run.end else "no end"
            lines.append(f"{run.begin:.3f} to {end}: attempt {run.attempt} by process {run.process}")
            lines += [f"    process {run.process}: {fault.what} from {fault.begin:.3f} to {fault.end:.3f}"
                      for fault in self.faults_of(run.process) if run.begin - LEASE < fault.end and fault.begin < run.begin + LEASE]
        return lines

    def faults_of(self, process):
        link = self.processes[process].link
        return [fault for fault in self.history.faults if fault.link in (link, None)]

    def hurt(self, process):
        """When something befell the process or the database, joined where it had no time to go on between."""
        if process not in self._hurt:
            spans = [(fault.begin, fault.end + AFTERMATH) for fault in self.faults_of(process)]
            self._hurt[process] = joined(spans)
        return self._hurt[process]

    def life(self, process):
        record = self.processes[process]
        return record.begin, FOREVER if record.end is None else record.end

    def end_of(self, process):
        """When it was killed, or told to end and to give its jobs back. It may have begun something at that moment."""
        born, died = self.life(process)
        told = [fault.begin for fault in self.faults_of(process) if fault.what in ("kill", "drain")]
        return min((time for time in told if born < time < died), default=died)

    def was_well(self, process, begin, end):
        return all(last < begin or first > end for first, last in self.hurt(process))

    def longest_rest(self, process, begin, end):
        """The longest time within the span in which nothing befell the process."""
        begin, end = max(begin, self.life(process)[0]), min(end, self.end_of(process))
        borders = [begin]
        for first, last in self.hurt(process):
            if last > begin and first < end:
                borders += [first, last]
        borders.append(end)
        return max((later - earlier for earlier, later in zip(borders[::2], borders[1::2])), default=0)

    def may_have_lost(self, process, begin, end):
        """Whether an attempt that began then may have been lost by the end."""
        return self.losses(process, begin, end) > 0

    def losses(self, process, begin, end):
        """How often the process may have lost a job within the span: as it was killed or told to end, or could not
        renew its lease for long. It claims others each time that it has another lease."""
        born, died = self.life(process)
        if born > end or died < begin:
            return 0
        spans = [last - first for first, last in self.hurt(process) if last > begin and first < end]
        return sum(int(length // (LEASE / 4)) for length in spans) + (self.end_of(process) < end)
