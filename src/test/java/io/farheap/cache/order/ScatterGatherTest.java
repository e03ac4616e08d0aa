package io.farheap.cache.order;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.contract.Completion;
import io.farheap.cache.contract.Status;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A request of several parts ends with the same status in whatever order its parts end. */
class ScatterGatherTest {

    /** From the best to the worst. */
    private static final int[] RANKED = {
        Status.OK, Status.SEGMENT_GONE, Status.CLOSED, Status.UNREACHABLE, Status.UNKNOWN, Status.CORRUPT, Status.LOST
    };

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
            int whole = parts.begin(PARTS, false, (token, status) -> ended.add(status), n);
            order.forEach(status -> parts.completed(whole, status));
            assertEquals(List.of(RANKED[worst]), ended, order.toString());
            ended.clear();
        }
    }

    @Test
    void aWriteOfWhichOnePartWasDoneIsNotUnreachable() {
        ScatterGather parts = new ScatterGather(1);
        List<Integer> ended = new ArrayList<>();
        for (boolean write : new boolean[] {true, false}) {
            for (int reached = 0; reached < 2; reached++) {
                int whole = parts.begin(2, write, (token, status) -> ended.add(status), 0);
                parts.completed(whole, reached == 0 ? Status.UNREACHABLE : Status.OK);
                parts.completed(whole, Status.UNREACHABLE);
            }
        }
        assertEquals(List.of(Status.UNREACHABLE, Status.UNKNOWN, Status.UNREACHABLE, Status.UNREACHABLE), ended);
        ended.clear();
        int whole = parts.begin(2, true, (token, status) -> ended.add(status), 0);
        parts.completed(whole, Status.UNREACHABLE);
        parts.completed(whole, Status.OK);
        assertEquals(List.of(Status.UNKNOWN), ended);
    }

    @Test
    void aPartLeadsToTheCompletionOfItsWhole() {
        ScatterGather parts = new ScatterGather(2);
        Completion one = (token, status) -> {};
        Completion other = (token, status) -> {};
        int first = parts.begin(2, false, one, 7);
        int second = parts.begin(2, false, other, 7);
        assertTrue(ScatterGather.leadsTo(one, parts, first));
        assertFalse(ScatterGather.leadsTo(one, parts, second));
        assertTrue(ScatterGather.leadsTo(one, one, second));
        assertFalse(ScatterGather.leadsTo(one, other, first));
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
