package io.farheap.posix;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.management.ThreadMXBean;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

/**
 * A thread that goes to sleep or wakes another one allocates nothing, even if it does so too seldom for its code to be
 * compiled.
 */
@Needs(Need.HOST)
class WaitAllocationTest {

    /** The first calls load classes. */
    private static final int FIRST = 20;

    private static final int CALLS = 40;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @Test
    void aFenceAllocatesNothing() {
        assertAllocatesNothing(AsymmetricFence::heavy);
    }

    @Test
    void aWaitForAnEventAllocatesNothing() {
        try (Epoll epoll = new Epoll(1);
                EventFd event = new EventFd()) {
            epoll.add(event.fd(), 1);
            assertAllocatesNothing(() -> {
                event.signal();
                epoll.await();
                event.drain();
            });
        }
    }

    private void assertAllocatesNothing(Runnable call) {
        for (int i = 0; i < FIRST; i++) {
            call.run();
        }
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < CALLS; i++) {
            call.run();
        }
        assertEquals(0, threads.getCurrentThreadAllocatedBytes() - before);
    }
}
