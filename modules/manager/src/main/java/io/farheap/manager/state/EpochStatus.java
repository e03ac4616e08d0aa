package io.farheap.manager.state;

import java.nio.charset.StandardCharsets;
import java.time.Instant;

/**
 * Whether a manager may open the state: the content of the epoch's node, the version of which is the epoch. A manager
 * that opens the state, or a copy, changes both at once, on condition of the version that it has seen.
 */
sealed interface EpochStatus {

    /** @return the content of the node */
    byte[] encode();

    /** Managers may open the state. */
    record OpenState() implements EpochStatus {

        @Override
        public byte[] encode() {
            return new RecordFields().put("opened", Instant.now()).encode();
        }
    }

    /**
     * A copy to here is not complete.
     *
     * @param copy the copy's id
     * @param from its source, for people
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
     * A copy from here is complete and has replaced this state.
     *
     * @param copy the copy's id
     * @param to its target, for people
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

    /** @throws MalformedRecordException if the bytes are no status */
    static EpochStatus decode(byte[] bytes) {
        // The layout creates the node empty.
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
     * Called by managers.
     *
     * @throws StateException if the state was moved, or is an incomplete copy
     */
    default void requireOpen() {
        switch (this) {
            case OpenState _ -> {}
            case MovedState moved ->
                throw new StateException("the state that was here was copied to " + moved.to()
                        + ", which replaces it: start managers there, and none here");
            case IncompleteCopy halfMade ->
                throw new StateException("the state is half made, by a copy of " + halfMade.from()
                        + " that still runs or was interrupted: if it was interrupted, run farheap manager copy once"
                        + " more as before, and start managers here when it is complete");
        }
    }
}
