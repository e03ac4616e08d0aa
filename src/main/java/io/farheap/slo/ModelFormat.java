package io.farheap.slo;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * The text of a model file, in UTF-8, by lines that end in {@code \n}:
 *
 * <pre>
 * farheap performance model, version 5
 * device soft0 (soft), connectx5 #5e1d07c3
 * hardware AMD EPYC 7551 #...
 * switches 0 #...
 * record-bytes 8 #...
 * read-percent 50 #...
 * client-cores 30 #...
 * device-depth 16 #...
 * resilience none #...
 * c1 s0 b1 q1 reads 3012.5 ns 166000.0 /s writes 2410.0 ns 166000.0 /s within 0.013 #...
 * complete 652 #...
 * </pre>
 *
 * After the {@code #} is the CRC-32C, in hexadecimal, of all of the file before the space in front of it, so lines that
 * are changed, lost or moved are noticed. Measurements stand in the order of {@link MeasurementPlan}, which has some
 * configurations more than once; the last line says how many there are. {@code within} is followed by
 * {@link Performance#uncertainty}, so that a run that continues ends the same lines of the grid.
 */
final class ModelFormat {

    static final int VERSION = 5;
    static final String MAGIC = "farheap performance model, version ";
    static final String COMPLETE = "complete ";
    static final String CHECKSUM = " #";
    static final List<String> FIELDS = List.of(
            "device",
            "hardware",
            "switches",
            "record-bytes",
            "read-percent",
            "client-cores",
            "device-depth",
            "resilience");

    private ModelFormat() {}

    static List<String> values(ModelSubject subject) {
        return List.of(
                subject.device(),
                subject.hardware(),
                Integer.toString(subject.switches()),
                Integer.toString(subject.recordBytes()),
                Integer.toString(subject.readPercent()),
                Integer.toString(subject.clientCores()),
                Integer.toString(subject.deviceDepth()),
                subject.resilience());
    }

    /**
     * Parses the subject from its {@link #values}.
     *
     * @throws IllegalArgumentException if one is not valid
     */
    static ModelSubject subject(List<String> values) {
        return new ModelSubject(
                values.get(0),
                values.get(1),
                Integer.parseInt(values.get(2)),
                Integer.parseInt(values.get(3)),
                Integer.parseInt(values.get(4)),
                Integer.parseInt(values.get(5)),
                Integer.parseInt(values.get(6)),
                values.get(7));
    }

    static String measurement(Configuration configuration, Performance performance) {
        return "c" + configuration.clientThreads() + " s" + configuration.serverThreads() + " b"
                + configuration.batchSize() + " q"
                + configuration.queueDepth() + " reads " + performance.readLatencyNanos() + " ns "
                + performance.readsPerSecond() + " /s writes "
                + performance.writeLatencyNanos() + " ns " + performance.writesPerSecond() + " /s within "
                + performance.uncertainty();
    }

    /**
     * @throws IllegalArgumentException if the line is not one that {@link #measurement} writes for this configuration
     */
    static Performance performance(Configuration configuration, String line) {
        String[] words = line.split(" ", -1);
        if (words.length != 16) {
            throw new IllegalArgumentException("a measurement has 16 words, not " + words.length);
        }
        Performance performance = new Performance(
                Double.parseDouble(words[5]),
                Double.parseDouble(words[7]),
                Double.parseDouble(words[10]),
                Double.parseDouble(words[12]),
                Double.parseDouble(words[15]));
        if (!measurement(configuration, performance).equals(line)) {
            throw new IllegalArgumentException("it is not the measurement of " + configuration + ", which is next");
        }
        return performance;
    }

    /** The running checksum of a file; it takes the file's lines in order. One thread at a time. */
    static final class ModelChecksum {

        private final CRC32C crc = new CRC32C();

        /** The line with its checksum and its end. */
        String seal(String line) {
            add(line);
            String tail = CHECKSUM + text() + "\n";
            add(tail);
            return line + tail;
        }

        /** The first line with its end; it has no checksum of its own, but all checksums include it. */
        String open(String line) {
            add(line + "\n");
            return line + "\n";
        }

        private void add(String text) {
            crc.update(text.getBytes(StandardCharsets.UTF_8));
        }

        private String text() {
            return String.format("%08x", crc.getValue());
        }
    }

    static String header(ModelSubject subject, ModelChecksum checksum) {
        StringBuilder header = new StringBuilder(checksum.open(MAGIC + VERSION));
        List<String> values = values(subject);
        for (int i = 0; i < FIELDS.size(); i++) {
            header.append(checksum.seal(FIELDS.get(i) + " " + values.get(i)));
        }
        return header.toString();
    }
}
