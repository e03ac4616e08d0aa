package io.farheap.bench.ablation;

import io.farheap.cache.contract.Completion;
import io.farheap.thread.ThreadAffinity;
import io.farheap.thread.ThreadJoiner;
import org.jspecify.annotations.Nullable;

/**
 * The application's thread hands its requests over to another thread, which issues and polls (Redy's client thread),
 * and gets their results back.
 */
final class HandoverIssuer implements RequestIssuer {

    private static final long STOP = Long.MAX_VALUE;

    private final RecordRequests records;
    private final LongQueue requests;
    private final LongQueue ended;
    private final Thread thread;
    private volatile @Nullable Throwable failure;
    private final Completion onDone = (token, status) -> {
        RecordRequests.check(status);
        end(token);
    };

    /**
     * @param records which the other thread issues and closes
     * @param requests slots on their way to the other thread
     * @param ended slots on their way back
     * @param core to which the other thread is pinned, or {@link ThreadAffinity#ANY}
     */
    HandoverIssuer(RecordRequests records, LongQueue requests, LongQueue ended, int core) {
        this.records = records;
        this.requests = requests;
        this.ended = ended;
        this.thread = Thread.ofPlatform().daemon().name("ablation-client").unstarted(() -> run(core));
        thread.start();
    }

    private void end(long slot) {
        ended.put(slot);
    }

    private void run(int core) {
        ThreadAffinity.pin(core);
        try (records) {
            SpinYieldBackoff patience = new SpinYieldBackoff();
            long next = requests.poll();
            while (next != STOP) {
                boolean issued = next != LongQueue.NOTHING && records.issue((int) next, onDone);
                if (issued | records.poll() > 0) {
                    patience.renew();
                } else {
                    patience.lose();
                }
                if (issued || next == LongQueue.NOTHING) {
                    next = requests.poll();
                }
            }
        } catch (Throwable e) {
            failure = e;
        }
    }

    @Override
    public void begin(int slot) {
        requests.put(slot);
    }

    @Override
    public long poll() {
        if (failure != null) {
            throw new IllegalStateException("the client thread has ended", failure);
        }
        return ended.poll();
    }

    @Override
    public void close() {
        requests.put(STOP);
        ThreadJoiner.join(thread);
    }
}
