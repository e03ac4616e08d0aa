package io.farheap.measure;

import io.farheap.verbs.Context;
import io.farheap.verbs.VerbsLibrary;
import io.farheap.verbs.soft.SoftverbsCalls;
import java.util.Map;

/**
 * Lets a run go on in which softverbs executes operations later than its NIC model says, which otherwise ends the
 * process: a space has configurations that are too much for the machine, and finding that out is what it is measured
 * for. softverbs still says at the end how many were late.
 */
public final class LateOperations {

    private static final String ALLOW = "misses=allow";

    private LateOperations() {}

    /**
     * In this process.
     *
     * @param context which is open
     */
    public static void allow(Context context) {
        if (context.library() != VerbsLibrary.SOFT) {
            return;
        }
        int error = SoftverbsCalls.control(ALLOW);
        if (error != 0) {
            throw new IllegalStateException("softverbs refuses the setting " + ALLOW + " with errno " + error);
        }
    }

    /** What a memory server that is started for it needs in its environment. */
    public static Map<String, String> environment() {
        String settings = System.getenv(SoftverbsModel.VARIABLE);
        if (settings == null || settings.isBlank()) {
            return Map.of();
        }
        // A file of settings is the user's own.
        return settings.startsWith("@") ? Map.of() : Map.of(SoftverbsModel.VARIABLE, settings + "," + ALLOW);
    }
}
