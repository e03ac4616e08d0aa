package io.farheap.measure;

import io.farheap.connection.Connection;
import io.farheap.posix.Hardware;
import io.farheap.slo.ModelSubject;
import io.farheap.verbs.Context;
import java.util.Locale;

/** What a model of this machine and one of its devices is of. */
public final class ModelSubjects {

    /**
     * Deeper queues of one connection gain nothing that was ever measured; it keeps a model small where a device would
     * take thousands.
     */
    private static final int USUAL_DEPTH = 16;

    private ModelSubjects() {}

    /**
     * @param context of the device
     * @param switches between client and server: 0 on one host, 1, 3 or 5
     * @param recordBytes of each read and write
     * @param readPercent of the operations
     * @param cores that a cache may use, or 0 for half of the machine's, as a server on this host needs its own
     * @param depth of queues, at most, or 0 for the device's, and 16 at most
     * @throws IllegalArgumentException where one is out of its range
     */
    public static ModelSubject of(
            Context context, int switches, int recordBytes, int readPercent, int cores, int depth) {
        int deepest = deepest(context);
        if (depth > deepest) {
            throw new IllegalArgumentException(
                    "a queue depth of " + depth + ": " + context.device().name() + " takes up to " + deepest);
        }
        return new ModelSubject(
                device(context),
                Hardware.describe(),
                switches,
                recordBytes,
                readPercent,
                cores == 0 ? Math.max(1, Runtime.getRuntime().availableProcessors() / 2) : cores,
                depth == 0 ? Math.min(deepest, USUAL_DEPTH) : depth);
    }

    /** The queue depth that a device takes. */
    public static int deepest(Context context) {
        return Connection.maxDepth(context.limits());
    }

    private static String device(Context context) {
        String name = context.device().name() + " (" + context.library().name().toLowerCase(Locale.ROOT) + ")";
        String model = SoftverbsModel.of(context.library());
        return model.equals(SoftverbsModel.NONE) ? name : name + ", " + model;
    }
}
