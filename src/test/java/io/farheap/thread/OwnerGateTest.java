package io.farheap.thread;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.testing.Interrupts;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Owner and claimers add to one plain counter: a lost addition means that two were inside at once. */
class OwnerGateTest {

    private static final int CLAIMS = 3_000;

    private final OwnerGate gate = new OwnerGate();
    private long counter;

    @Test
    void theOwnerKnowsWhetherItIsIn() {
        OwnerGate gate = new OwnerGate();
        assertFalse(gate.inside());
        gate.enter();
        assertTrue(gate.inside());
        gate.exit();
        assertFalse(gate.inside());
    }

    @Test
    void anInterruptedOwnerOrClaimerSleepsWhileItWaits() throws Exception {
        gate.claim();
        Interrupts.assertSleeps(
                () -> {
                    gate.enter();
                    gate.exit();
                },
                gate::unclaim);
        gate.enter();
        Interrupts.assertSleeps(
                () -> {
                    gate.claim();
                    gate.unclaim();
                },
                gate::exit);
    }

    @Test
    void excludesOwnerAndClaimers() throws InterruptedException {
        AtomicBoolean stop = new AtomicBoolean();
        CountDownLatch begun = new CountDownLatch(1);
        long[] entered = new long[1];
        Thread owner = Thread.ofPlatform().start(() -> {
            while (!stop.get()) {
                gate.enter();
                counter++;
                gate.exit();
                entered[0]++;
                begun.countDown();
            }
        });
        begun.await();
        Thread[] claimers = new Thread[2];
        for (int i = 0; i < claimers.length; i++) {
            claimers[i] = Thread.ofPlatform().start(() -> {
                for (int n = 0; n < CLAIMS; n++) {
                    gate.claim();
                    long before = counter;
                    for (int spin = 0; spin < 20; spin++) {
                        Thread.onSpinWait();
                    }
                    counter = before + 1;
                    gate.unclaim();
                }
            });
        }
        for (Thread claimer : claimers) {
            claimer.join();
        }
        stop.set(true);
        owner.join();
        assertTrue(entered[0] > 0);
        assertEquals(entered[0] + 2L * CLAIMS, counter);
    }

    /** As if a filter of system calls allowed the registration for membarrier but not its use. */
    @Test
    void aClaimWhoseFenceFailsIsNone() throws InterruptedException {
        IllegalStateException failure = new IllegalStateException("no membarrier");
        AtomicBoolean failing = new AtomicBoolean(true);
        OwnerGate gate = new OwnerGate(() -> {
            if (failing.get()) {
                throw failure;
            }
        });
        assertSame(failure, assertThrows(IllegalStateException.class, gate::claim));
        Thread owner = Thread.ofPlatform().daemon().start(() -> {
            gate.enter();
            counter = 1;
            gate.exit();
        });
        owner.join(30_000);
        assertFalse(owner.isAlive(), "the gate is claimed still");
        assertEquals(1, counter);
        failing.set(false);
        Thread claimer = Thread.ofPlatform().daemon().start(() -> {
            gate.claim();
            counter = 2;
            gate.unclaim();
        });
        claimer.join(30_000);
        assertFalse(claimer.isAlive(), "claimers are kept out still");
        assertEquals(2, counter);
    }

    @Test
    void aVirtualThreadMayOwnIt() throws InterruptedException {
        gate.claim();
        Thread owner = Thread.ofVirtual().start(() -> {
            gate.enter();
            counter = 1;
            gate.exit();
        });
        assertEquals(0, counter);
        gate.unclaim();
        owner.join();
        assertEquals(1, counter);
    }
}
