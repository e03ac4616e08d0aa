package io.farheap.remote.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.remote.contract.Outcome;
import io.farheap.verbs.WcStatus;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The outcome of an operation by its completion's status. */
class OutcomeTest {

    private static final int HIGHEST = 32;

    /** A system gives up a refused operation, and repeats one that failed for any other reason. */
    @Test
    void onlyAMistakeIsRefused() {
        Set<Integer> mistakes =
                Set.of(WcStatus.REM_ACCESS_ERR, WcStatus.REM_INV_REQ_ERR, WcStatus.LOC_PROT_ERR, WcStatus.LOC_LEN_ERR);
        for (int status = WcStatus.SUCCESS + 1; status < HIGHEST; status++) {
            assertEquals(
                    mistakes.contains(status) ? Outcome.REFUSED : Outcome.UNKNOWN,
                    QueueCompletions.outcome(status),
                    WcStatus.describe(status));
        }
        assertEquals(Outcome.DONE, QueueCompletions.outcome(WcStatus.SUCCESS));
    }
}
