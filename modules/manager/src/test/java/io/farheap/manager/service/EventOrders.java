package io.farheap.manager.service;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * All orders of a few events, of which a test tries some that lie far apart.
 *
 * @param events how many, numbered from 0
 * @param count how many orders there are: the factorial of {@code events}
 * @param stride has no divisor in common with the count, so that no order is tried twice before all were
 */
record EventOrders(int events, int count, long stride) {

    /** Tries one order of the events, from a state that earlier ones do not change. */
    @FunctionalInterface
    interface Trial {
        /** @param number of trials before this one */
        void run(int number, List<Integer> order);
    }

    /**
     * Makes so many trials. The first order is random, and a failure names the seed {@code farheap.seed} and the order.
     */
    void tried(int trials, Trial trial) {
        long seed = Long.getLong("farheap.seed", System.nanoTime());
        int from = new Random(seed).nextInt(count);
        for (int i = 0; i < trials; i++) {
            List<Integer> order = order((int) ((from + stride * i) % count));
            try {
                trial.run(i, order);
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError("seed " + seed + ", order " + order, e);
            }
        }
    }

    private List<Integer> order(int number) {
        List<Integer> left = new ArrayList<>();
        for (int event = 0; event < events; event++) {
            left.add(event);
        }
        List<Integer> order = new ArrayList<>();
        int rest = number;
        for (int size = events; size > 0; size--) {
            order.add(left.remove(rest % size));
            rest /= size;
        }
        return order;
    }
}
