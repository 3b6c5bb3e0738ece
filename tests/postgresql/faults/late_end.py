"""An attempt's end that is under way while the job is given to another server."""

from heistd_server import until

from cluster import TOKEN
from cluster_history import Fault
from cluster_run import ClusterRun
from history import now
from load import Wish


class LateEnd(ClusterRun):
    """The network of a server freezes as the server says that its attempt is done. It passes that on when the lease is
    over, and another server runs the job."""

    def act(self):
        client = self.load.clients[0]
        client.submit(self._wish())
        client.connection.close()
        (first,) = self._wait_for_runs(1)
        node = next(node for node in self.cluster.nodes if node.record.number == first.process)
        fault = Fault("freeze", now(), link=node.link)
        self.history.faults.append(fault)
        self.cluster.links.order(node.link, "freeze")
        self.cluster.let_go(first.process)
        _, second = self._wait_for_runs(2)
        self.cluster.links.order(node.link, "heal")
        fault.end = now()
        until(lambda: self._is_answered_by(node, second.id), "the server to be back")
        self.cluster.let_go(second.process)

    @staticmethod
    def _wish():
        wish = Wish.urgent("late")
        wish.job.does, wish.parameters = "wait", {"does": "wait"}
        return wish

    def _wait_for_runs(self, number):
        def found():
            runs = sorted(self.cluster.runs(), key=lambda run: run.begin)
            return len(runs) == number and runs

        return until(found, f"attempt {number}", pause=0.05)

    def _is_answered_by(self, node, id):
        connection = node.address.connection()
        try:
            connection.request("GET", f"/jobs/{id}", headers={"Authorization": f"Bearer {TOKEN}"})
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()
