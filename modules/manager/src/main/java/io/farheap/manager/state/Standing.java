package io.farheap.manager.state;

import java.nio.charset.StandardCharsets;
import java.time.Instant;

/**
 * Whether a manager may open the state: what the epoch's node says, whose version is the epoch. Whoever opens the state
 * or copies it changes both at once, on condition of the version that it has seen.
 */
sealed interface Standing {

    /** @return for the node */
    byte[] encode();

    /** For managers. */
    record Open() implements Standing {

        @Override
        public byte[] encode() {
            return new Fields().put("opened", Instant.now()).encode();
        }
    }

    /**
     * A copy to here is not complete.
     *
     * @param copy which one
     * @param from where, for people
     */
    record HalfMade(String copy, String from) implements Standing {

        @Override
        public byte[] encode() {
            return new Fields()
                    .put(HALF_MADE, copy)
                    .put("from", from)
                    .put("since", Instant.now())
                    .encode();
        }
    }

    /**
     * A copy from here is complete, and counts.
     *
     * @param copy which one
     * @param to where, for people
     */
    record Moved(String copy, String to) implements Standing {

        @Override
        public byte[] encode() {
            return new Fields()
                    .put(MOVED, copy)
                    .put("to", to)
                    .put("since", Instant.now())
                    .encode();
        }
    }

    String HALF_MADE = "half-made";
    String MOVED = "moved";

    /** @throws MalformedRecordException it is none */
    static Standing decode(byte[] bytes) {
        // As the layout makes it.
        if (bytes.length == 0) {
            return new Open();
        }
        try {
            Fields fields = Fields.decode(bytes);
            String halfMade = fields.text(HALF_MADE, "");
            String moved = fields.text(MOVED, "");
            if (!moved.isEmpty()) {
                return new Moved(moved, fields.text("to"));
            }
            return halfMade.isEmpty() ? new Open() : new HalfMade(halfMade, fields.text("from"));
        } catch (IllegalArgumentException e) {
            throw new MalformedRecordException(
                    NodePaths.EPOCH, e.getMessage() + ": '" + new String(bytes, StandardCharsets.UTF_8) + "'", e);
        }
    }

    /**
     * Managers ask it.
     *
     * @throws StateException it is elsewhere, or half made
     */
    default void requireOpen() {
        switch (this) {
            case Open _ -> {}
            case Moved moved ->
                throw new StateException("the state that was here was copied to " + moved.to()
                        + ", which is what counts now: start managers there, and none here");
            case HalfMade halfMade ->
                throw new StateException("the state is half made, by a copy of " + halfMade.from()
                        + " that goes on or was interrupted: where that is so, run farheap manager copy once more as"
                        + " before, and start managers here when it is complete");
        }
    }
}
