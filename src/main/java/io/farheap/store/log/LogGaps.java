package io.farheap.store.log;

import io.farheap.store.format.StoreRecord;
import java.util.List;

/**
 * Parts of a log with records that do not count: of a version that a recovered checkpoint does not have, or from behind
 * its end. They lie on the device alone.
 */
public class LogGaps {

    /** Of the log, from {@code from} to {@code to}: records of later versions than {@code last} do not count. */
    public record Gap(long from, long to, long last) {}

    private final List<Gap> gaps;
    private final Gap[] each;
    private final long top;

    public LogGaps(List<Gap> gaps) {
        this.gaps = List.copyOf(gaps);
        this.each = gaps.toArray(Gap[]::new);
        this.top = gaps.stream().mapToLong(Gap::to).max().orElse(0);
    }

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

    /** Whether none is in a part of the log. */
    public boolean none(long from, long to) {
        return gaps.stream().noneMatch(gap -> gap.from() < to && gap.to() > from);
    }

    /** Where a gap ends in which no record counts at all, and an address is; else the address. */
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

    /** Those that are still in the log. */
    public List<Gap> from(long begin) {
        return gaps.stream().filter(gap -> gap.to() > begin).toList();
    }
}
