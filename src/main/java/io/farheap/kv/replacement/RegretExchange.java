package io.farheap.kv.replacement;

/** A session's regrets on their way to the controller: one batch is gathered while another waits for its answer. */
final class RegretExchange {

    private RegretBatch gathered;
    private RegretBatch spare;
    private final long full;
    private boolean asked;

    /** @param full regrets after which a batch is to be sent */
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

    /** The answer is there, or will not come. What was sent is not sent again. */
    void ended() {
        asked = false;
    }

    /** The sums of what was regretted since the last batch was sent; the caller leaves them as they are. */
    double[] since() {
        return gathered.sums();
    }
}
