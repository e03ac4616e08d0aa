package io.farheap.kv.replacement;

/**
 * A client's weights: each regret counts at once, and now and then a batch of them is exchanged for the weights that
 * all clients have learned (Ditto, lazy weight update). One thread.
 */
public final class LearnedWeights {

    private final ExpertWeights weights;
    private final double discount;
    private final long historyLength;
    private final double[] answered;
    private final RegretExchange exchange;

    /** @param historyLength entries, as many as the map is to hold objects */
    public LearnedWeights(int experts, long historyLength) {
        if (historyLength < 1 || historyLength > HistoryIds.LONGEST) {
            throw new IllegalArgumentException(
                    "a history of " + historyLength + " entries; take 1 to " + HistoryIds.LONGEST);
        }
        weights = new ExpertWeights(experts);
        this.historyLength = historyLength;
        discount = ExpertWeights.discount(historyLength);
        answered = new double[experts];
        exchange = new RegretExchange(experts, RegretBatch.FULL);
    }

    /** What victims are chosen by. */
    public ExpertWeights weights() {
        return weights;
    }

    /**
     * A miss of an object that has a history entry.
     *
     * @param counter the history's, as far as it is known
     * @param entry the entry's number
     * @param experts those that named the object
     * @return false where the entry has expired, which is no regret
     */
    public boolean missed(long counter, long entry, long experts) {
        if (HistoryIds.expired(counter, entry, historyLength)) {
            return false;
        }
        double penalty = ExpertWeights.penalty(discount, HistoryIds.age(counter, entry));
        weights.regret(experts, penalty);
        exchange.add(experts, penalty);
        return true;
    }

    /** Whether a batch is to be sent: it is full, and none is on its way. */
    public boolean due() {
        return exchange.due();
    }

    /**
     * Writes what was gathered into words that are sent to {@link ControllerWeights#answer}. Before the answer or
     * {@link #lost} there is no other.
     */
    public void send(long[] words) {
        exchange.send(words);
    }

    /**
     * The answer is there: the weights are everybody's, with what was regretted here since.
     *
     * @throws IllegalArgumentException where it has what is no weight; the client's own then stay
     */
    public void answered(long[] words) {
        exchange.ended();
        for (int expert = 0; expert < answered.length; expert++) {
            answered[expert] = Double.longBitsToDouble(words[expert]);
            if (!(answered[expert] > 0 && answered[expert] <= 1)) {
                throw new IllegalArgumentException(
                        "weight " + answered[expert] + " of expert " + expert + "; a weight is above 0 and at most 1");
            }
        }
        weights.set(answered);
        weights.regret(exchange.since());
    }

    /** There will be no answer. What was sent may have been applied or not, and is not sent again. */
    public void lost() {
        exchange.ended();
    }
}
