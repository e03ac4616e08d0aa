package io.farheap.kv.keeper;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** When a session is cut off whose requests keep an era, by a clock that the test sets. */
class SessionWatchTest {

    private static final long SECOND = 1_000_000_000;

    private long era = 7;
    private long now;
    private long polls;
    private int cuts;
    private CompletableFuture<Void> fenced = new CompletableFuture<>();
    private final SessionWatch watch = new SessionWatch(() -> era, () -> polls, () -> {
        cuts++;
        return fenced;
    });

    private void look(long present, int seconds) {
        for (int i = 0; i < seconds; i++) {
            now += SECOND;
            watch.look(present, now);
        }
    }

    @Test
    void aSessionThatIsNotPolledIsCutOffOnceAnEraWaitsForIt() {
        look(7, 60);
        assertEquals(0, cuts, "nothing waits for its request");
        look(8, 4);
        polls++;
        look(8, 5);
        assertEquals(0, cuts, "it was polled 4 s ago");
        look(8, 3);
        assertEquals(1, cuts);
        look(8, 10);
        assertEquals(1, cuts, "the servers have not answered yet");
        assertEquals(7, watch.oldestEra(), "until then its operations may take effect");
        fenced.complete(null);
        assertEquals(Long.MAX_VALUE, watch.oldestEra());
        look(8, 20);
        assertEquals(1, cuts);
    }

    @Test
    void aServerThatDoesNotAnswerIsAskedAgain() {
        look(8, 8);
        assertEquals(1, cuts);
        fenced.completeExceptionally(new IllegalStateException("no answer"));
        assertNotEquals(Long.MAX_VALUE, watch.oldestEra());
        fenced = new CompletableFuture<>();
        // The session has lost connections for good, so its requests wait for that, even if it is polled now.
        for (int i = 0; i < 8; i++) {
            polls++;
            look(8, 1);
        }
        assertEquals(2, cuts);
    }

    /** The session could not be polled in that time either. */
    @Test
    void aStopOfTheWholeProcessCutsNoSessionOff() {
        look(8, 2);
        now += 60 * SECOND;
        look(8, 2);
        assertEquals(0, cuts);
    }

    @Test
    void aSessionWithoutRequestsIsLeftAlone() {
        era = Long.MAX_VALUE;
        look(8, 60);
        look(9, 60);
        assertEquals(0, cuts);
    }
}
