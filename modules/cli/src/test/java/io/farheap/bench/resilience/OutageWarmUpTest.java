package io.farheap.bench.resilience;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.resilience.contract.CodedStatus;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntToLongFunction;
import org.junit.jupiter.api.Test;

/** A turn of an outage begins with loads without the fault, until their medians agree. */
class OutageWarmUpTest {

    private static final RequestKind READ = new RequestKind(false, 4096);
    private static final RequestKind WRITE = new RequestKind(true, 4096);

    private int loads;

    private Set<RequestKind> warmUp(IntToLongFunction read, IntToLongFunction write) {
        return OutagePart.warmUp(List.of(READ, WRITE), () -> {
            loads++;
            return Map.of(READ, tally(read.applyAsLong(loads)), WRITE, tally(write.applyAsLong(loads)));
        });
    }

    private static RequestTally tally(long nanos) {
        RequestTally tally = new RequestTally();
        if (nanos > 0) {
            tally.ended(CodedStatus.OK, nanos, 0);
        }
        tally.endTurn();
        return tally;
    }

    @Test
    void itEndsWhenThreeLoadsAgree() {
        assertEquals(Set.of(READ, WRITE), warmUp(load -> load == 1 ? 3000 : 1000, load -> 2000));
        assertEquals(4, loads);
    }

    @Test
    void requestsWhoseMediansDifferHaveNotSettled() {
        assertEquals(Set.of(READ), warmUp(load -> 1000, load -> 1000 * load));
        assertEquals(OutagePart.MOST_WARM_UPS, loads);
    }

    @Test
    void aLoadInWhichNoRequestSucceedsDoesNotSettle() {
        assertEquals(Set.of(READ), warmUp(load -> 1000, load -> 0));
    }
}
