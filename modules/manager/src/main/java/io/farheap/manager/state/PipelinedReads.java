package io.farheap.manager.state;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.BackgroundCallback;
import org.apache.curator.framework.api.CuratorEvent;
import org.apache.curator.framework.api.CuratorEventType;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;

/** Many reads at once: each is sent before the last is answered. Answers are in the order of the paths. */
final class PipelinedReads {

    /** As many as ZooKeeper has under way before it stops listening to a client. */
    private static final int WINDOW = 1_000;

    private final CuratorFramework client;
    private final long patienceMillis;

    /** @param patienceMillis how long to wait for any one answer */
    PipelinedReads(CuratorFramework client, long patienceMillis) {
        this.client = client;
        this.patienceMillis = patienceMillis;
    }

    List<List<String>> children(List<String> paths) throws Exception {
        return all(
                        paths,
                        (path, done) -> client.getChildren().inBackground(done).forPath(path))
                .stream()
                .map(CuratorEvent::getChildren)
                .toList();
    }

    List<byte[]> data(List<String> paths) throws Exception {
        return all(paths, (path, done) -> client.getData().inBackground(done).forPath(path)).stream()
                .map(CuratorEvent::getData)
                .toList();
    }

    List<Boolean> exist(List<String> paths) throws Exception {
        return all(
                        paths,
                        (path, done) -> client.checkExists().inBackground(done).forPath(path))
                .stream()
                .map(event -> event.getStat() != null)
                .toList();
    }

    /** Of a node that is always there. */
    Stat stat(String path) throws Exception {
        Stat stat = client.checkExists().forPath(path);
        if (stat == null) {
            throw KeeperException.create(Code.NONODE, path);
        }
        return stat;
    }

    private interface Read {
        void begin(String path, BackgroundCallback done) throws Exception;
    }

    private List<CuratorEvent> all(List<String> paths, Read read) throws Exception {
        Semaphore window = new Semaphore(WINDOW);
        List<CompletableFuture<CuratorEvent>> answers = new ArrayList<>(paths.size());
        for (String path : paths) {
            if (!window.tryAcquire(patienceMillis, TimeUnit.MILLISECONDS)) {
                throw new KeeperException.OperationTimeoutException();
            }
            CompletableFuture<CuratorEvent> answer = new CompletableFuture<>();
            answers.add(answer);
            read.begin(path, (ignored, event) -> {
                window.release();
                answer.complete(event);
            });
        }
        List<CuratorEvent> events = new ArrayList<>(paths.size());
        for (int i = 0; i < paths.size(); i++) {
            events.add(good(paths.get(i), answers.get(i)));
        }
        return events;
    }

    private CuratorEvent good(String path, CompletableFuture<CuratorEvent> answer) throws Exception {
        CuratorEvent event;
        try {
            event = answer.get(patienceMillis, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw new KeeperException.OperationTimeoutException();
        } catch (ExecutionException e) {
            throw new IllegalStateException("nobody completes it so", e);
        }
        Code code = Code.get(event.getResultCode());
        // That a node is not there is an answer where the question is whether it is.
        if (code == Code.OK || (code == Code.NONODE && event.getType() == CuratorEventType.EXISTS)) {
            return event;
        }
        throw KeeperException.create(code, path);
    }
}
