package io.farheap.resilience.table;

import io.farheap.resilience.contract.Health;
import java.util.ArrayList;
import java.util.List;

/** What the sessions of a space have counted, those that are closed together. Any thread. */
public final class CodedCountTotals {

    private final CodedSessionCounts ended = new CodedSessionCounts();
    private final List<CodedSessionCounts> open = new ArrayList<>();

    public synchronized void add(CodedSessionCounts counts) {
        open.add(counts);
    }

    /** A session is closed, and counts no more. */
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
