package io.farheap.kv.replacement;

import java.util.Arrays;
import java.util.random.RandomGenerator;

/**
 * The trust in each expert: weights that sum to 1, none below {@link #FLOOR}, so that each can recover (Ditto, section
 * 4.3.2). Sets of experts are bitmaps, bit i for expert i. One thread.
 */
public final class ExpertWeights {

    /** The most experts: the bitmap of a history entry has one byte for them. */
    public static final int MOST_EXPERTS = 8;

    public static final double FLOOR = 0.01;
    public static final double LEARNING_RATE = 0.1;

    /** The remaining penalty of an entry at the far end of the history. */
    private static final double LEAST_PENALTY = 0.005;

    private final double[] weights;

    /**
     * Equal weights.
     *
     * @param experts 1 to {@link #MOST_EXPERTS}
     */
    public ExpertWeights(int experts) {
        if (experts < 1 || experts > MOST_EXPERTS) {
            throw new IllegalArgumentException(experts + " experts; take 1 to " + MOST_EXPERTS);
        }
        weights = new double[experts];
        Arrays.fill(weights, 1.0 / experts);
    }

    public int experts() {
        return weights.length;
    }

    public double weight(int expert) {
        return weights[expert];
    }

    /** The sum of the weights of a set of experts: the probability that their candidate is evicted. */
    public double weight(long experts) {
        double sum = 0;
        for (int expert = 0; expert < weights.length; expert++) {
            if ((experts >>> expert & 1) != 0) {
                sum += weights[expert];
            }
        }
        return sum;
    }

    /** The discount d of a history of so many entries: {@code 0.005^(1/N)}. */
    public static double discount(long historyLength) {
        return Math.pow(LEAST_PENALTY, 1.0 / Math.max(1, historyLength));
    }

    /**
     * The penalty for evicting the object that is missed now: {@code d^t}, 1 for the newest entry and less for older
     * ones.
     *
     * @param age the age of the history entry ({@link HistoryIds#age}); an entry newer than the known counter counts as
     *     the newest
     */
    public static double penalty(double discount, long age) {
        return Math.pow(discount, (double) Math.max(0, age));
    }

    /** Reduces the weights of the experts that named the object which is missed now. */
    public void regret(long experts, double penalty) {
        double factor = Math.exp(-LEARNING_RATE * penalty);
        for (int expert = 0; expert < weights.length; expert++) {
            if ((experts >>> expert & 1) != 0) {
                weights[expert] *= factor;
            }
        }
        normalise();
    }

    /** Reduces each expert's weight by the sum of its penalties. */
    void regret(double[] penalties) {
        for (int expert = 0; expert < weights.length; expert++) {
            weights[expert] *= Math.exp(-LEARNING_RATE * penalties[expert]);
        }
        normalise();
    }

    /**
     * Takes weights from the controller.
     *
     * @param said one for each expert
     */
    void set(double[] said) {
        System.arraycopy(said, 0, weights, 0, weights.length);
        normalise();
    }

    /**
     * Scales the weights to sum to 1; those that would fall below the floor are set to it, and the others share the
     * rest.
     */
    private void normalise() {
        long onFloor = 0;
        long before;
        do {
            before = onFloor;
            double free = 0;
            for (int expert = 0; expert < weights.length; expert++) {
                if ((onFloor >>> expert & 1) == 0) {
                    free += weights[expert];
                }
            }
            double rest = 1 - Long.bitCount(onFloor) * FLOOR;
            for (int expert = 0; expert < weights.length; expert++) {
                if ((onFloor >>> expert & 1) == 0) {
                    weights[expert] = free > 0 ? weights[expert] * rest / free : rest;
                    if (weights[expert] < FLOOR) {
                        onFloor |= 1L << expert;
                    }
                }
            }
            for (int expert = 0; expert < weights.length; expert++) {
                if ((onFloor >>> expert & 1) != 0) {
                    weights[expert] = FLOOR;
                }
            }
        } while (onFloor != before);
    }

    /** Draws one expert at random, each with the probability of its weight. */
    public int draw(RandomGenerator random) {
        double left = random.nextDouble();
        for (int expert = 0; expert < weights.length - 1; expert++) {
            left -= weights[expert];
            if (left < 0) {
                return expert;
            }
        }
        return weights.length - 1;
    }
}
