package io.farheap.store.log;

import io.farheap.store.format.StoreRecord;
import java.util.List;

/**
 * The gaps of a log: parts whose records do not count, since their version is not in the checkpoint that was recovered,
 * or since they were written behind its end. Gaps lie on the device alone.
 */
public class LogGaps {

    /**
     * The log from {@code from} to {@code to}: records of the version after {@code last} do not count in it; if
     * {@code last} is negative, no record does.
     */
    public record Gap(long from, long to, long last) {}

    private final List<Gap> gaps;
    private final Gap[] each;
    private final long top;

    public LogGaps(List<Gap> gaps) {
        this.gaps = List.copyOf(gaps);
        this.each = gaps.toArray(Gap[]::new);
        this.top = gaps.stream().mapToLong(Gap::to).max().orElse(0);
    }

    /** Whether the record at an address, with that header, counts. */
    public boolean counts(long address, long header) {
        return address >= top || look(address, header);
    }

    private boolean look(long address, long header) {
        for (Gap gap : each) {
            boolean later = gap.last() < 0 || StoreRecord.version(header) == (gap.last() + 1 & StoreRecord.VERSION);
            if (later && address >= gap.from() && address < gap.to()) {
                return false;
            }
        }
        return true;
    }

    /** Whether a part of the log has no gap. */
    public boolean none(long from, long to) {
        return gaps.stream().noneMatch(gap -> gap.from() < to && gap.to() > from);
    }

    /** The end of the gap that an address lies in, if no record counts in that gap; otherwise the address. */
    public long endOf(long address) {
        if (address < top) {
            for (Gap gap : each) {
                if (gap.last() < 0 && address >= gap.from() && address < gap.to()) {
                    return gap.to();
                }
            }
        }
        return address;
    }

    /** The gaps that end behind the log's beginning. */
    public List<Gap> from(long begin) {
        return gaps.stream().filter(gap -> gap.to() > begin).toList();
    }
}
