package io.farheap.kv.keeper;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** Which growths a process confirms that loses servers. */
class CopiedGrowthsTest {

    private final CopiedGrowths growths = new CopiedGrowths();

    private int confirmed(int servers, int known, int... copies) {
        growths.begin(servers, known);
        for (int each : copies) {
            growths.has(each);
        }
        return growths.confirmed();
    }

    @Test
    void aGrowthIsConfirmedOnceAllServersThatAreReachedHaveIt() {
        assertEquals(0, confirmed(3, 1, 0, 1));
        assertEquals(1, confirmed(3, 1, 1, 1));
        assertEquals(2, confirmed(3, 2, 2), "the third is lost");
    }

    /** The others may replace the first server, and know nothing of the growth. */
    @Test
    void aProcessThatIsCutOffFromTheOthersConfirmsNothingMore() {
        assertEquals(1, confirmed(3, 1, 1, 1));
        assertEquals(1, confirmed(3, 2));
        assertEquals(1, confirmed(5, 2, 2));
        assertEquals(2, confirmed(4, 2, 2), "the other two can replace none of these");
        assertEquals(2, confirmed(3, 2, 1, 1), "what was confirmed stays so");
    }

    @Test
    void ofTwoServersNoneIsReplaced() {
        assertEquals(3, confirmed(2, 3));
        assertEquals(4, confirmed(1, 4));
    }
}
