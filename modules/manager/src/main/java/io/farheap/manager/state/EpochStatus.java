package io.farheap.manager.state;

import java.nio.charset.StandardCharsets;
import java.time.Instant;

/**
 * Whether a manager may open the state: what the epoch's node says, whose version is the epoch. Whoever opens the state
 * or copies it changes both at once, on condition of the version that it has seen.
 */
sealed interface EpochStatus {

    /** @return for the node */
    byte[] encode();

    /** For managers. */
    record OpenState() implements EpochStatus {

        @Override
        public byte[] encode() {
            return new RecordFields().put("opened", Instant.now()).encode();
        }
    }

    /**
     * A copy to here is not complete.
     *
     * @param copy which one
     * @param from where, for people
     */
    record IncompleteCopy(String copy, String from) implements EpochStatus {

        @Override
        public byte[] encode() {
            return new RecordFields()
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
    record MovedState(String copy, String to) implements EpochStatus {

        @Override
        public byte[] encode() {
            return new RecordFields()
                    .put(MOVED, copy)
                    .put("to", to)
                    .put("since", Instant.now())
                    .encode();
        }
    }

    String HALF_MADE = "half-made";
    String MOVED = "moved";

    /** @throws MalformedRecordException it is none */
    static EpochStatus decode(byte[] bytes) {
        // As the layout makes it.
        if (bytes.length == 0) {
            return new OpenState();
        }
        try {
            RecordFields fields = RecordFields.decode(bytes);
            String halfMade = fields.text(HALF_MADE, "");
            String moved = fields.text(MOVED, "");
            if (!moved.isEmpty()) {
                return new MovedState(moved, fields.text("to"));
            }
            return halfMade.isEmpty() ? new OpenState() : new IncompleteCopy(halfMade, fields.text("from"));
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
            case OpenState _ -> {}
            case MovedState moved ->
                throw new StateException("the state that was here was copied to " + moved.to()
                        + ", which is what counts now: start managers there, and none here");
            case IncompleteCopy halfMade ->
                throw new StateException("the state is half made, by a copy of " + halfMade.from()
                        + " that goes on or was interrupted: where that is so, run farheap manager copy once more as"
                        + " before, and start managers here when it is complete");
        }
    }
}
