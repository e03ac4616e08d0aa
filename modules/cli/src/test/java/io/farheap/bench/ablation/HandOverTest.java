package io.farheap.bench.ablation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HandOverTest {

    private static final int CAPACITY = 8;

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void numbersArriveInOrder(boolean locked) throws InterruptedException {
        LongQueue there = handOver(locked);
        LongQueue back = handOver(locked);
        Thread echo = Thread.ofPlatform().daemon().start(() -> {
            for (int echoed = 0; echoed < 10_000; ) {
                long number = there.poll();
                if (number != LongQueue.NOTHING) {
                    back.put(number);
                    echoed++;
                } else {
                    Thread.yield();
                }
            }
        });
        long sent = 0;
        for (long received = 0; received < 10_000; ) {
            if (sent < 10_000 && sent - received < CAPACITY) {
                there.put(sent++);
            }
            long number = back.poll();
            if (number != LongQueue.NOTHING) {
                assertEquals(received++, number);
            } else {
                Thread.yield();
            }
        }
        echo.join();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void moreThanItHoldsIsRefused(boolean locked) {
        LongQueue handOver = handOver(locked);
        for (int i = 0; i < CAPACITY; i++) {
            handOver.put(i);
        }
        assertThrows(IllegalStateException.class, () -> handOver.put(CAPACITY));
        assertEquals(0, handOver.poll());
    }

    private static LongQueue handOver(boolean locked) {
        return locked ? new LockedQueue(CAPACITY) : LongQueue.lockFree(CAPACITY);
    }
}
