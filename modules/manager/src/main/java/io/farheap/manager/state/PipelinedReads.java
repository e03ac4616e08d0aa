package io.farheap.manager.state;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.apache.curator.RetryLoop;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Reads many nodes at once: several in each request, and further requests are sent before earlier ones are answered.
 * Answers are in the order of the paths. If the connection is lost, all of them are read again.
 */
final class PipelinedReads {

    /** A client of these reads must accept answers of this many bytes: one request's nodes, each of 1 MiB at most. */
    static final int ANSWER_BYTES = 64 << 20;

    private static final int REQUEST_READS = 50;
    private static final int REQUESTS = 16;

    private final CuratorFramework client;
    private final long patienceMillis;

    /** @param patienceMillis how long to wait for each answer */
    PipelinedReads(CuratorFramework client, long patienceMillis) {
        this.client = client;
        this.patienceMillis = patienceMillis;
    }

    /** Returns the children of nodes that exist. */
    List<List<String>> children(List<String> paths) throws Exception {
        List<List<String>> children = new ArrayList<>(paths.size());
        for (OpResult result : all(paths, Op::getChildren)) {
            if (!(result instanceof OpResult.GetChildrenResult answer)) {
                throw KeeperException.create(code(result), paths.get(children.size()));
            }
            children.add(answer.getChildren());
        }
        return children;
    }

    /**
     * The content of a node.
     *
     * @param children how many children it has
     */
    record Node(byte[] data, int children) {}

    /** Returns the data of nodes; null for a node that does not exist. */
    List<byte @Nullable []> data(List<String> paths) throws Exception {
        List<byte @Nullable []> data = new ArrayList<>(paths.size());
        for (Node node : nodes(paths)) {
            data.add(node == null ? null : node.data());
        }
        return data;
    }

    /** Returns nodes; null for a node that does not exist. */
    List<@Nullable Node> nodes(List<String> paths) throws Exception {
        List<@Nullable Node> nodes = new ArrayList<>(paths.size());
        for (OpResult result : all(paths, Op::getData)) {
            if (result instanceof OpResult.GetDataResult answer) {
                nodes.add(new Node(answer.getData(), answer.getStat().getNumChildren()));
            } else if (code(result) == Code.NONODE) {
                nodes.add(null);
            } else {
                throw KeeperException.create(code(result), paths.get(nodes.size()));
            }
        }
        return nodes;
    }

    /** Returns the version and times of a node that always exists. */
    Stat stat(String path) throws Exception {
        Stat stat = client.checkExists().forPath(path);
        if (stat == null) {
            throw KeeperException.create(Code.NONODE, path);
        }
        return stat;
    }

    private static Code code(OpResult result) {
        return result instanceof OpResult.ErrorResult error ? Code.get(error.getErr()) : Code.MARSHALLINGERROR;
    }

    private List<OpResult> all(List<String> paths, Function<String, Op> read) throws Exception {
        return RetryLoop.callWithRetry(
                client.getZookeeperClient(),
                () -> once(client.getZookeeperClient().getZooKeeper(), paths, read));
    }

    private List<OpResult> once(ZooKeeper zookeeper, List<String> paths, Function<String, Op> read) throws Exception {
        Semaphore window = new Semaphore(REQUESTS);
        List<CompletableFuture<List<OpResult>>> answers = new ArrayList<>();
        for (int from = 0; from < paths.size(); from += REQUEST_READS) {
            if (!window.tryAcquire(patienceMillis, TimeUnit.MILLISECONDS)) {
                throw new KeeperException.OperationTimeoutException();
            }
            List<String> some = paths.subList(from, Math.min(paths.size(), from + REQUEST_READS));
            CompletableFuture<List<OpResult>> answer = new CompletableFuture<>();
            answers.add(answer);
            zookeeper.multi(
                    some.stream().map(read).toList(),
                    (code, path, context, results) -> {
                        window.release();
                        // The code is that of the first read that failed. If there are results, each of them has its
                        // own.
                        if (results == null) {
                            answer.completeExceptionally(KeeperException.create(Code.get(code)));
                        } else {
                            answer.complete(results);
                        }
                    },
                    null);
        }
        List<OpResult> results = new ArrayList<>(paths.size());
        for (CompletableFuture<List<OpResult>> answer : answers) {
            results.addAll(await(answer));
        }
        return results;
    }

    private List<OpResult> await(CompletableFuture<List<OpResult>> answer) throws Exception {
        try {
            return answer.get(patienceMillis, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw new KeeperException.OperationTimeoutException();
        } catch (ExecutionException e) {
            // Callers decide by the type whether to try again.
            throw e.getCause() instanceof KeeperException failed ? failed : e;
        }
    }
}
