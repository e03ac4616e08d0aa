package io.farheap.kv.replacement;

/**
 * A client's weights: each regret counts at once, and from time to time a batch of them is exchanged for the weights
 * that all clients have learned (Ditto, lazy weight update). One thread.
 */
public final class LearnedWeights {

    private final ExpertWeights weights;
    private final double discount;
    private final long historyLength;
    private final double[] answered;
    private final RegretExchange exchange;

    /** @param historyLength the number of entries, which is that of the objects that the map should hold */
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

    /** The weights by which victims are chosen. */
    public ExpertWeights weights() {
        return weights;
    }

    /**
     * Notes a miss of an object that has a history entry.
     *
     * @param counter the history's counter, as last known
     * @param entry the entry's number
     * @param experts the experts that named the object
     * @return false if the entry has expired, which is no regret
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

    /** Whether a batch should be sent: it is full, and none is awaiting its answer. */
    public boolean due() {
        return exchange.due();
    }

    /**
     * Writes the gathered regrets into words for {@link ControllerWeights#answer}. No other batch may be sent before
     * the answer or {@link #lost}.
     */
    public void send(long[] words) {
        exchange.send(words);
    }

    /**
     * Takes an answer: the weights become those of all clients, reduced by the regrets since the batch was sent.
     *
     * @throws IllegalArgumentException if it contains a value that is no weight; the client's own weights then stay
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

    /** Notes that no answer will arrive. The batch may have been applied or not, and is not sent again. */
    public void lost() {
        exchange.ended();
    }
}
