package io.farheap.bench.ablation;

import io.farheap.cache.contract.Completion;

/**
 * The application's thread calls the session itself; if the cache has client threads, the session hands the request
 * over to one.
 */
final class DirectIssuer implements RequestIssuer {

    private final RecordRequests records;
    private final long[] ended;
    private int count;
    private final Completion onDone = (token, status) -> {
        RecordRequests.check(status);
        end(token);
    };

    DirectIssuer(RecordRequests records, int slots) {
        this.records = records;
        this.ended = new long[slots];
    }

    private void end(long slot) {
        ended[count++] = slot;
    }

    @Override
    public void begin(int slot) {
        while (!records.issue(slot, onDone)) {
            records.poll();
        }
    }

    @Override
    public long poll() {
        if (count == 0) {
            records.poll();
        }
        return count == 0 ? LongQueue.NOTHING : ended[--count];
    }

    @Override
    public void close() {
        records.close();
    }
}
