package io.farheap.ycsb;

import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/**
 * Properties of the binding, given as {@code -p NAME=VALUE}; sizes may end with k, m or g.
 *
 * <table>
 * <caption>Properties</caption>
 * <tr><td>{@code farheap.memory}</td><td>local memory of the log; 64m by default</td></tr>
 * <tr><td>{@code farheap.readcache}</td><td>local memory for copies of what was read; none by default</td></tr>
 * <tr><td>{@code farheap.servers}</td><td>memory servers, HOST:PORT with commas between</td></tr>
 * <tr><td>{@code farheap.far}</td><td>far memory that is taken from them; 256m by default</td></tr>
 * <tr><td>{@code farheap.directory}</td><td>where files are; an empty one, or of a run that ended</td></tr>
 * <tr><td>{@code farheap.load}</td><td>true: the records are inserted first, and not measured, so that one process loads
 *     and runs</td></tr>
 * </table>
 *
 * With servers and a directory, far memory is above the files; with neither, all of the log is in this process's
 * memory.
 *
 * @param records that the log is expected to have
 * @param valueBytes that a record's fields are expected to have, encoded
 */
record StoreSettings(
        long memory,
        long readCache,
        List<String> servers,
        long far,
        @Nullable Path directory,
        long records,
        int valueBytes) {

    static final String LOAD = "farheap.load";

    private static final String UNITS = "kmg";
    private static final int NAME_BYTES = 16;

    static StoreSettings of(Properties properties) {
        String servers = properties.getProperty("farheap.servers", "");
        String directory = properties.getProperty("farheap.directory", "");
        long fields = Long.parseLong(properties.getProperty("fieldcount", "10"));
        long fieldBytes = Long.parseLong(properties.getProperty("fieldlength", "100"));
        return new StoreSettings(
                size(properties, "farheap.memory", "64m"),
                size(properties, "farheap.readcache", "0"),
                servers.isBlank() ? List.of() : List.of(servers.strip().split(" *, *")),
                size(properties, "farheap.far", "256m"),
                directory.isBlank() ? null : Path.of(directory),
                Math.max(1, Long.parseLong(properties.getProperty("recordcount", "1000"))),
                Math.toIntExact(fields * (fieldBytes + NAME_BYTES)));
    }

    private static long size(Properties properties, String name, String usual) {
        String text = properties.getProperty(name, usual).strip().toLowerCase(Locale.ROOT);
        int unit = text.isEmpty() ? -1 : UNITS.indexOf(text.charAt(text.length() - 1));
        String digits = unit < 0 ? text : text.substring(0, text.length() - 1);
        try {
            return Math.multiplyExact(Long.parseUnsignedLong(digits), 1L << 10 * (unit + 1));
        } catch (NumberFormatException | ArithmeticException e) {
            throw new IllegalArgumentException(
                    name + "=" + text + ": a size is a number of bytes, or one with k, m or g, such as 64m", e);
        }
    }
}
