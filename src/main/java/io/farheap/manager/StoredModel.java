package io.farheap.manager;

import io.farheap.slo.ModelFile;
import io.farheap.slo.ModelFileException;
import io.farheap.slo.ModelSubject;
import io.farheap.slo.PerformanceModel;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * A performance model that a manager keeps: one for each {@link ModelSubject}, so one for each distance (Redy, section
 * 5.2).
 *
 * @param key of the subject: {@value #KEY_DIGITS} hexadecimal digits
 * @param text of the model's file as it is
 */
public record StoredModel(String key, String text) {

    private static final int KEY_DIGITS = 32;

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException if the key is not valid, or the text is too long to be stored
     */
    public StoredModel {
        requireSize(text.getBytes(StandardCharsets.UTF_8).length);
        if (!key.matches("[0-9a-f]{" + KEY_DIGITS + "}")) {
            throw new IllegalArgumentException(
                    "a performance model's key that is not " + KEY_DIGITS + " hexadecimal digits");
        }
    }

    /**
     * A model with its key.
     *
     * @param text of a complete model's file
     * @throws IllegalArgumentException if it is too long, or not a complete model, with the reason
     */
    public static StoredModel of(String text) {
        return new StoredModel(key(parse(text).subject()), text);
    }

    /**
     * The parsed model.
     *
     * @throws IllegalArgumentException if the text is not a complete model
     */
    public PerformanceModel model() {
        return parse(text);
    }

    private static PerformanceModel parse(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        // Checked before the text is parsed.
        requireSize(bytes.length);
        try {
            return ModelFile.parse("the performance model", bytes);
        } catch (ModelFileException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
    }

    private static void requireSize(int bytes) {
        if (bytes > CacheManager.MAX_MODEL_BYTES) {
            throw new IllegalArgumentException(
                    "a performance model of " + bytes + " bytes; a manager keeps one of at most "
                            + CacheManager.MAX_MODEL_BYTES
                            + ", since a node of ZooKeeper has at most 1 MiB: measure it for fewer cores or depths");
        }
    }

    private static String key(ModelSubject subject) {
        String values = String.join(
                "\n",
                subject.device(),
                subject.hardware(),
                String.valueOf(subject.switches()),
                String.valueOf(subject.recordBytes()),
                String.valueOf(subject.readPercent()),
                String.valueOf(subject.clientCores()),
                String.valueOf(subject.deviceDepth()),
                subject.resilience());
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(values.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest, 0, KEY_DIGITS / 2);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JVM has SHA-256", e);
        }
    }
}
