package io.farheap.cache.order;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.cache.contract.Status;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A request of several parts ends with the same status in whatever order its parts end. */
class ScatterGatherTest {

    /** From the best to the worst. */
    private static final int[] RANKED = {Status.OK, Status.SEGMENT_GONE, Status.CLOSED, Status.CORRUPT, Status.LOST};

    private static final int PARTS = 3;

    @Test
    void theWorstPartDecidesInEachOrder() {
        ScatterGather parts = new ScatterGather(1);
        List<Integer> ended = new ArrayList<>();
        for (int n = 0; n < RANKED.length * RANKED.length * RANKED.length; n++) {
            int worst = 0;
            List<Integer> order = new ArrayList<>();
            for (int rest = n, part = 0; part < PARTS; part++, rest /= RANKED.length) {
                int rank = rest % RANKED.length;
                worst = Math.max(worst, rank);
                order.add(RANKED[rank]);
            }
            int whole = parts.begin(PARTS, (token, status) -> ended.add(status), n);
            order.forEach(status -> parts.completed(whole, status));
            assertEquals(List.of(RANKED[worst]), ended, order.toString());
            ended.clear();
        }
    }

    /** A session that is closed does not hide that a part of a request was lost. */
    @Test
    void whatIsGivenUpDoesNotHideWhatWasLost() {
        PostedRequest request = new PostedRequest(0);
        request.length = 64;
        request.begin(8, 1);
        request.status = Status.LOST;
        request.abandon();
        assertEquals(Status.LOST, request.status);
        request.begin(8, 1);
        request.abandon();
        assertEquals(Status.CLOSED, request.status);
    }
}
