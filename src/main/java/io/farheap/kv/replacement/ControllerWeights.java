package io.farheap.kv.replacement;

/**
 * The weights that all clients of a map learn together, at a server (Ditto, section 4.3.2). A client sends a
 * {@link RegretBatch} and receives the resulting weights, a double for each expert. Any thread may call.
 */
public final class ControllerWeights implements SharedWeights {

    private final ExpertWeights weights;
    private final RegretBatch received;

    public ControllerWeights(int experts) {
        weights = new ExpertWeights(experts);
        received = new RegretBatch(experts);
    }

    @Override
    public int words() {
        return RegretBatch.words(weights.experts());
    }

    /** Applies a batch, and answers with the weights; a batch without regrets only asks for them. */
    @Override
    public synchronized void answer(long[] words) {
        received.decode(words);
        weights.regret(received.sums());
        for (int expert = 0; expert < weights.experts(); expert++) {
            words[expert] = Double.doubleToRawLongBits(weights.weight(expert));
        }
    }

    @Override
    public synchronized double weight(int expert) {
        return weights.weight(expert);
    }
}
