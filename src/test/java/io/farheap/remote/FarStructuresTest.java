package io.farheap.remote;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.testing.Effort;
import io.farheap.testing.TestDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * An application that uses remote memory alone: threads share a counter and a linked list in the memory of several
 * servers, without locks.
 */
class FarStructuresTest {

    private static final int SERVERS = 3;
    private static final int THREADS = 4;
    private static final int NODES = Effort.count(200);

    /**
     * Words of the first region: the number of nodes, and the first node's address. Nodes follow, each with a value and
     * the next node's address.
     */
    private static final long COUNT = 0;

    private static final long HEAD = 8;
    private static final long FIRST_NODE = 64;
    private static final long NODE_BYTES = 16;
    /** An address is a server's number in the upper half, an offset in the lower; 0 ends the list. */
    private static final int SERVER_SHIFT = 32;

    /** One thread's use of the memory: a queue, a page, one operation at a time. */
    private static final class Far implements AutoCloseable {
        private final List<RemoteRegion> regions;
        private final RemoteQueue queue;
        private final RegisteredBuffer page;
        private int outcome;

        Far(RemoteMemory memory, List<RemoteRegion> regions) {
            this.regions = regions;
            queue = memory.openQueue(QueueOptions.DEFAULT);
            page = memory.register(4096);
        }

        private void await(int posting) {
            assertEquals(PostResult.OK, posting, () -> PostResult.describe(posting));
            while (queue.poll((tag, how) -> outcome = how) == 0) {
                queue.await(1_000_000);
            }
            assertEquals(Outcome.DONE, outcome, () -> Outcome.describe(outcome));
        }

        long add(long offset, long delta) {
            await(queue.fetchAndAdd(regions.getFirst(), offset, delta, page, 0, 0));
            return page.segment().get(JAVA_LONG, 0);
        }

        boolean swap(long offset, long expected, long value) {
            await(queue.compareAndSwap(regions.getFirst(), offset, expected, value, page, 0, 0));
            return page.segment().get(JAVA_LONG, 0) == expected;
        }

        long[] read(int server, long offset, int words) {
            await(queue.read(regions.get(server), offset, page, 0, words * Long.BYTES, 0));
            return page.segment().asSlice(0, (long) words * Long.BYTES).toArray(JAVA_LONG);
        }

        void write(int server, long offset, long... words) {
            for (int i = 0; i < words.length; i++) {
                page.segment().setAtIndex(JAVA_LONG, i, words[i]);
            }
            await(queue.write(regions.get(server), offset, page, 0, words.length * Long.BYTES, 0));
        }

        /** Puts a node at the head of the list; the counter's value makes its memory this node's alone. */
        void push(long value) {
            long number = add(COUNT, 1);
            int server = (int) (number % SERVERS);
            long offset = FIRST_NODE + number * NODE_BYTES;
            long head;
            do {
                head = read(0, HEAD, 1)[0];
                write(server, offset, value, head);
            } while (!swap(HEAD, head, (long) server << SERVER_SHIFT | offset));
        }

        @Override
        public void close() {
            queue.close();
            page.close();
        }
    }

    @Test
    void threadsPushToOneListAndNoneIsLost() throws InterruptedException {
        try (TestServers servers = new TestServers(1, 1, 1);
                RemoteMemory memory = RemoteMemory.open(TestDevice.client(), "list")) {
            List<RemoteRegion> regions = new ArrayList<>();
            for (int i = 0; i < SERVERS; i++) {
                regions.addAll(memory.allocate(memory.attach(servers.address(i)), 1));
            }
            List<Throwable> failures = new ArrayList<>();
            List<Thread> threads = new ArrayList<>();
            for (int thread = 0; thread < THREADS; thread++) {
                long base = thread * 1_000_000L;
                threads.add(Thread.ofPlatform()
                        .uncaughtExceptionHandler((ignored, e) -> failures.add(e))
                        .start(() -> {
                            try (Far far = new Far(memory, regions)) {
                                for (int i = 0; i < NODES; i++) {
                                    far.push(base + i);
                                }
                            }
                        }));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            assertEquals(List.of(), failures);
            try (Far far = new Far(memory, regions)) {
                assertEquals(THREADS * NODES, far.add(COUNT, 0));
                Set<Long> values = new TreeSet<>();
                for (long at = far.read(0, HEAD, 1)[0]; at != 0; ) {
                    long[] node = far.read((int) (at >>> SERVER_SHIFT), at & (1L << SERVER_SHIFT) - 1, 2);
                    values.add(node[0]);
                    at = node[1];
                }
                assertEquals(THREADS * NODES, values.size());
            }
        }
    }
}
