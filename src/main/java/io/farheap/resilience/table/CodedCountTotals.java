package io.farheap.resilience.table;

import io.farheap.resilience.contract.Health;
import java.util.ArrayList;
import java.util.List;

/** The counts of all sessions of a space: those of open sessions, and the sum of those of closed ones. Any thread. */
public final class CodedCountTotals {

    private final CodedSessionCounts ended = new CodedSessionCounts();
    private final List<CodedSessionCounts> open = new ArrayList<>();

    public synchronized void add(CodedSessionCounts counts) {
        open.add(counts);
    }

    /** Moves the counts of a session that has been closed into the sum; the session no longer writes them. */
    public synchronized void ended(CodedSessionCounts counts) {
        if (open.remove(counts)) {
            ended.add(counts);
        }
    }

    public synchronized Health.Counts sum() {
        CodedSessionCounts sum = new CodedSessionCounts();
        sum.add(ended);
        open.forEach(sum::add);
        return sum.snapshot();
    }
}
