package io.farheap.posix;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;

class AsymmetricFenceTest {

    @Test
    void aKernelWithoutMemoryIsAskedAgain() {
        Deque<Integer> results = new ArrayDeque<>(List.of(-Errno.ENOMEM, -Errno.ENOMEM, 0));
        AsymmetricFence.barrier(results::remove);
        assertTrue(results.isEmpty());
    }

    @Test
    void aRefusalSaysWhy() {
        Deque<Integer> results = new ArrayDeque<>(List.of(-Errno.ENOMEM, -Errno.EPERM, 0));
        IllegalStateException refusal =
                assertThrows(IllegalStateException.class, () -> AsymmetricFence.barrier(results::remove));
        assertEquals(
                "membarrier was registered and now fails with EPERM (not permitted); a system call filter must let all its commands "
                        + "through or none",
                refusal.getMessage());
    }

    @Test
    void theKernelTellsWhy() {
        assertEquals(-Errno.EINVAL, Posix.membarrier(1 << 30));
        AsymmetricFence.heavy();
    }
}
