package io.farheap.kv.replacement;

/** A session's regrets on their way to the controller: one batch is gathered while another awaits its answer. */
final class RegretExchange {

    private RegretBatch gathered;
    private RegretBatch spare;
    private final long full;
    private boolean asked;

    /** @param full the number of regrets after which a batch should be sent */
    RegretExchange(int experts, long full) {
        this.full = full;
        gathered = new RegretBatch(experts);
        spare = new RegretBatch(experts);
    }

    void add(long experts, double penalty) {
        gathered.add(experts, penalty);
    }

    boolean due() {
        return isDue(full);
    }

    /** Whether a batch of so many regrets would be sent. */
    boolean isDue(long regrets) {
        return gathered.regrets() >= regrets && !asked;
    }

    void send(long[] words) {
        if (asked) {
            throw new IllegalStateException("a batch of regrets is on its way; wait for its answer");
        }
        gathered.encode(words);
        RegretBatch free = spare;
        spare = gathered;
        gathered = free;
        gathered.clear();
        asked = true;
    }

    /** Notes that the answer has arrived, or will not. The batch is not sent again. */
    void ended() {
        asked = false;
    }

    /** The sums of the regrets since the last batch was sent; the caller must not change the array. */
    double[] since() {
        return gathered.sums();
    }
}
