package io.farheap.kv.replacement;

/** The share of {@link BalancedReplacement} that all sessions of a map learn together. Any thread may call. */
final class ControllerShare implements SharedWeights {

    private final RegretBatch received = new RegretBatch(BalancedReplacement.EXPERTS);
    private double share;

    @Override
    public int words() {
        return RegretBatch.words(BalancedReplacement.EXPERTS);
    }

    @Override
    public synchronized void answer(long[] words) {
        received.decode(words);
        share = BalancedReplacement.moved(share, received.sums());
        for (int expert = 0; expert < BalancedReplacement.EXPERTS; expert++) {
            words[expert] = Double.doubleToRawLongBits(weight(expert));
        }
    }

    @Override
    public synchronized double weight(int expert) {
        return expert == BalancedReplacement.ONCE ? share : 1 - share;
    }
}
