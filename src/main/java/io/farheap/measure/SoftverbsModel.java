package io.farheap.measure;

import io.farheap.posix.FileNames;
import io.farheap.verbs.VerbsLibrary;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The NIC that softverbs emulates, as the environment variable {@code SOFTVERBS} sets it. */
public final class SoftverbsModel {

    public static final String NONE = "none";
    public static final String VARIABLE = "SOFTVERBS";

    private static final String PRESET = "model=";
    /** Settings that change the meaning of a figure. */
    private static final Set<String> KEYS =
            Set.of("model", "latency", "message", "gbps", "fetch", "jitter", "inline", "depth", "order", "straggler");

    private SoftverbsModel() {}

    /** The model of a device of this library: {@link #NONE} for any but softverbs. */
    public static String of(VerbsLibrary library) {
        return library == VerbsLibrary.SOFT ? of(System.getenv(VARIABLE)) : NONE;
    }

    /**
     * A preset's name if no other setting changes the meaning of a figure, else all settings that change it, separated
     * by commas; {@link #NONE} if there are no such settings.
     *
     * @param settings the value of {@link #VARIABLE}, settings or {@code @} and the name of a file of them; may be null
     * @throws UncheckedIOException if the file cannot be read
     */
    public static String of(@Nullable String settings) {
        if (settings == null) {
            return NONE;
        }
        List<String> items = Arrays.stream(text(settings).split("[,\\s]+"))
                .filter(item -> KEYS.contains(item.split("=", 2)[0]))
                .toList();
        if (items.isEmpty()) {
            return NONE;
        }
        if (items.size() == 1 && items.getFirst().startsWith(PRESET)) {
            return items.getFirst().substring(PRESET.length());
        }
        return String.join(",", items);
    }

    private static String text(String settings) {
        if (!settings.startsWith("@")) {
            return settings;
        }
        try {
            return Files.readAllLines(FileNames.of(settings.substring(1))).stream()
                    .filter(line -> !line.startsWith("#"))
                    .collect(Collectors.joining("\n"));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read softverbs' settings " + settings, e);
        }
    }
}
