package io.farheap.thread;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.testing.Effort;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class SubmissionsTest {

    private static final int SUBMITTERS = 4;
    private static final int ROUNDS = Effort.count(2000);
    private static final int EACH = 200;

    private void take(Submissions<AtomicInteger> submissions) {
        while (!submissions.closing() || !submissions.isEmpty()) {
            AtomicInteger request = submissions.poll();
            if (request != null) {
                request.incrementAndGet();
            } else if (!submissions.closing()) {
                LockSupport.park();
            }
        }
        submissions.end();
    }

    /** The submissions are closed at any moment, while other threads submit. */
    @Test
    void eachIsTakenOrRefusedOnce() {
        for (int round = 0; round < ROUNDS; round++) {
            Submissions<AtomicInteger> submissions = new Submissions<>(request -> {
                request.incrementAndGet();
                // Other threads run meanwhile.
                Thread.yield();
            });
            Thread taker = Thread.ofPlatform().start(() -> take(submissions));
            AtomicInteger begun = new AtomicInteger();
            List<CompletableFuture<List<AtomicInteger>>> submitters = new ArrayList<>();
            for (int i = 0; i < SUBMITTERS; i++) {
                submitters.add(CompletableFuture.supplyAsync(() -> {
                    List<AtomicInteger> all = new ArrayList<>();
                    for (int n = 0; n < EACH; n++) {
                        AtomicInteger request = new AtomicInteger();
                        all.add(request);
                        submissions.submit(request, taker);
                        begun.incrementAndGet();
                    }
                    return all;
                }));
            }
            while (begun.get() < round % (SUBMITTERS * EACH / 2)) {
                Thread.onSpinWait();
            }
            submissions.close(taker);
            for (CompletableFuture<List<AtomicInteger>> submitter : submitters) {
                submitter.join().forEach(request -> assertEquals(1, request.get()));
            }
        }
    }
}
