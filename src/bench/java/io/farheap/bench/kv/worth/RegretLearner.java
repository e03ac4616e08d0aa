package io.farheap.bench.kv.worth;

import io.farheap.kv.replacement.ExpertWeights;
import io.farheap.kv.replacement.Replacement;

/**
 * How a client's regrets reach the weights of all clients, which are one word in far memory: the weight of the first of
 * two experts; the other has the rest. A client changes it with a CAS, so no server takes part, whether it does so
 * after a hundred regrets or after each one. One thread.
 */
final class RegretLearner {

    private final RegionClient wire;
    private final Replacement replacement;
    private final long[] words;
    private final double[] penalties = new double[2];
    private long known;
    private long wanted;

    RegretLearner(RegionClient wire, Replacement replacement) {
        this.wire = wire;
        this.replacement = replacement;
        words = new long[replacement.words()];
        known = Double.doubleToRawLongBits(0.5);
    }

    /** Returns the word in a new map. */
    static long first() {
        return Double.doubleToRawLongBits(0.5);
    }

    /** Begins to apply the regrets since the last time. */
    void begin() {
        send();
        swap();
    }

    private void send() {
        replacement.send(words);
        for (int expert = 0; expert < penalties.length; expert++) {
            penalties[expert] = Double.longBitsToDouble(words[1 + expert]);
        }
    }

    private void swap() {
        double weight = Double.longBitsToDouble(known);
        double one = weight * Math.exp(-ExpertWeights.LEARNING_RATE * penalties[0]);
        double other = (1 - weight) * Math.exp(-ExpertWeights.LEARNING_RATE * penalties[1]);
        wanted = Double.doubleToRawLongBits(
                Math.clamp(one / (one + other), ExpertWeights.FLOOR, 1 - ExpertWeights.FLOOR));
        wire.swap(FarTableLayout.WEIGHT, known, wanted, ClientPageLayout.OLD);
    }

    /** @return whether it is done; if another client was faster, it tries again */
    boolean advance() {
        long found = wire.get(ClientPageLayout.OLD);
        if (found != known) {
            known = found;
            swap();
            return false;
        }
        known = wanted;
        answer();
        return true;
    }

    /** Begins to read the weights that all clients have learned. */
    void read() {
        wire.read(FarTableLayout.WEIGHT, ClientPageLayout.WEIGHT, Long.BYTES);
    }

    /** Called when the read is done. */
    void take() {
        known = wire.get(ClientPageLayout.WEIGHT);
        send();
        answer();
    }

    private void answer() {
        double weight = Double.longBitsToDouble(known);
        words[0] = known;
        words[1] = Double.doubleToRawLongBits(1 - weight);
        replacement.answered(words);
    }
}
