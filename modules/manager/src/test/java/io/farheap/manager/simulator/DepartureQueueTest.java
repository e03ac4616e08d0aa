package io.farheap.manager.simulator;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.PriorityQueue;
import java.util.Random;
import org.junit.jupiter.api.Test;

class DepartureQueueTest {

    @Test
    void departInTheOrderOfTheirTimes() {
        Random random = new Random(3);
        DepartureQueue departures = new DepartureQueue();
        PriorityQueue<double[]> expected = new PriorityQueue<>((a, b) -> Double.compare(a[0], b[0]));
        assertEquals(Double.POSITIVE_INFINITY, departures.next());
        for (int i = 0; i < 30_000; i++) {
            if (random.nextInt(3) > 0 || expected.isEmpty()) {
                double time = random.nextDouble();
                departures.add(time, i);
                expected.add(new double[] {time, i});
            } else {
                assertEquals(expected.peek()[0], departures.next());
                assertEquals((int) expected.remove()[1], departures.remove());
            }
        }
        while (!expected.isEmpty()) {
            assertEquals((int) expected.remove()[1], departures.remove());
        }
        assertEquals(Double.POSITIVE_INFINITY, departures.next());
    }
}
