package io.farheap.slo;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads the text of a model file without trusting it. A last line without a line end is one whose writing was
 * interrupted, and is ignored.
 */
final class ModelReader {

    /** The size above which a file is refused; the largest model is far smaller. */
    static final int MAX_BYTES = 4 << 20;

    private final String file;
    private final ModelSubject expected;
    private final MeasurementPlan plan;
    private ModelFormat.ModelChecksum checksum = new ModelFormat.ModelChecksum();
    private int validBytes;
    private boolean sealed;

    /**
     * @param file the file's name, or another name of the bytes, for messages
     * @param expected the subject that the model must have
     * @throws ModelFileException if it is no model file, has another version or subject, or is damaged
     */
    ModelReader(String file, byte[] bytes, ModelSubject expected) throws ModelFileException {
        this.file = file;
        this.expected = expected;
        plan = new MeasurementPlan(expected);
        int end = bytes.length;
        while (end > 0 && bytes[end - 1] != '\n') {
            end--;
        }
        read(decode(bytes, end), bytes);
    }

    /**
     * Reads a model of the subject that the file names.
     *
     * @throws ModelFileException if it is no model file, has another version, or is damaged
     */
    ModelReader(String file, byte[] bytes) throws ModelFileException {
        this(file, bytes, subject(file, bytes));
    }

    /** The subject that a file names; the checksums show whether it is the one that was written. */
    private static ModelSubject subject(String file, byte[] bytes) throws ModelFileException {
        String[] lines = new String(bytes, StandardCharsets.UTF_8).split("\n", -1);
        checkMagic(file, lines[0]);
        if (lines.length < 2 + ModelFormat.FIELDS.size()) {
            throw new ModelFileException(file + " is not complete: it ends within its header; measure the model again");
        }
        List<String> values = new ArrayList<>();
        for (int i = 0; i < ModelFormat.FIELDS.size(); i++) {
            String line = lines[i + 1];
            int begin = ModelFormat.FIELDS.get(i).length() + 1;
            int end = line.lastIndexOf(ModelFormat.CHECKSUM);
            if (end < begin) {
                throw damaged(file, i + 2, "it does not have the field " + ModelFormat.FIELDS.get(i));
            }
            values.add(line.substring(begin, end));
        }
        try {
            return ModelFormat.subject(values);
        } catch (IllegalArgumentException e) {
            throw new ModelFileException(file + " is damaged in its header: "
                    + shortened(String.valueOf(e.getMessage())) + "; delete it and measure the model again");
        }
    }

    /** The plan with all measurements of the file. */
    MeasurementPlan plan() {
        return plan;
    }

    /** The length of the valid part of the file; the rest is of an interrupted write. */
    int validBytes() {
        return validBytes;
    }

    /** The checksum of the part up to {@link #validBytes}. */
    ModelFormat.ModelChecksum checksum() {
        return checksum;
    }

    /** Whether the file is marked as complete. */
    boolean sealed() {
        return sealed;
    }

    private String decode(byte[] bytes, int length) throws ModelFileException {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes, 0, length))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new ModelFileException(
                    file + " is not a performance model, or is damaged: it is not text; delete it and measure the "
                            + "model again");
        }
    }

    private void read(String text, byte[] bytes) throws ModelFileException {
        List<String> lines = text.isEmpty()
                ? List.of()
                : List.of(text.substring(0, text.length() - 1).split("\n", -1));
        int headerLines = 1 + ModelFormat.FIELDS.size();
        if (lines.size() < headerLines) {
            checkInterruptedHeader(bytes);
            return;
        }
        checkMagic(file, lines.getFirst());
        checksum.open(lines.getFirst());
        for (int i = 1; i < lines.size(); i++) {
            String line = unsealed(lines.get(i), i + 1);
            if (i < headerLines) {
                checkField(line, i - 1);
            } else {
                readMeasurement(line, i + 1);
            }
        }
        validBytes = text.getBytes(StandardCharsets.UTF_8).length;
    }

    /** A file that ends within the header is one whose creation was interrupted, or no model file. */
    private void checkInterruptedHeader(byte[] bytes) throws ModelFileException {
        byte[] whole =
                ModelFormat.header(expected, new ModelFormat.ModelChecksum()).getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < bytes.length; i++) {
            if (i >= whole.length || bytes[i] != whole[i]) {
                throw new ModelFileException(file
                        + " is not a performance model for this device, or is damaged: it ends after " + bytes.length
                        + " bytes, within its header; delete it and measure the model again");
            }
        }
    }

    private static void checkMagic(String file, String line) throws ModelFileException {
        if (!line.startsWith(ModelFormat.MAGIC)) {
            throw new ModelFileException(
                    file + " is not a performance model: its first line is not \"" + ModelFormat.MAGIC
                            + ModelFormat.VERSION + "\"; name a file that holds one, or a new file to measure into");
        }
        if (!line.equals(ModelFormat.MAGIC + ModelFormat.VERSION)) {
            throw new ModelFileException(file + " is a performance model of format version "
                    + shortened(line.substring(ModelFormat.MAGIC.length())) + ", and this Farheap reads version "
                    + ModelFormat.VERSION + "; measure the model again into another file");
        }
    }

    private String unsealed(String line, int number) throws ModelFileException {
        int end = line.lastIndexOf(ModelFormat.CHECKSUM);
        String content = end < 0 ? line : line.substring(0, end);
        if (!checksum.seal(content).equals(line + "\n")) {
            throw damaged(file, number, "its checksum does not match");
        }
        return content;
    }

    private void checkField(String line, int field) throws ModelFileException {
        String name = ModelFormat.FIELDS.get(field);
        if (!line.startsWith(name + " ")) {
            throw damaged(file, field + 2, "it does not have the field " + name);
        }
        String measured = line.substring(name.length() + 1);
        String wanted = ModelFormat.values(expected).get(field);
        if (!measured.equals(wanted)) {
            throw new ModelFileException(file + " was measured with " + name + " \"" + shortened(measured)
                    + "\", and the model is wanted for \"" + wanted + "\"; measure one for this into another file");
        }
    }

    private void readMeasurement(String line, int number) throws ModelFileException {
        if (sealed) {
            throw damaged(file, number, "it follows the end of the model");
        }
        if (line.startsWith(ModelFormat.COMPLETE)) {
            if (!plan.complete() || !line.equals(ModelFormat.COMPLETE + plan.measured())) {
                throw damaged(file, number, "it is not the end of a model after " + plan.measured() + " measurements");
            }
            sealed = true;
            return;
        }
        if (plan.complete()) {
            throw damaged(file, number, "it follows the last measurement");
        }
        try {
            plan.record(ModelFormat.performance(plan.next(), line));
        } catch (IllegalArgumentException e) {
            throw damaged(file, number, String.valueOf(e.getMessage()));
        }
    }

    private static ModelFileException damaged(String file, int number, String how) {
        return new ModelFileException(
                file + " is damaged in line " + number + ": " + how + "; delete it and measure the model again");
    }

    private static String shortened(String text) {
        return text.length() <= ModelSubject.MAX_NAME ? text : text.substring(0, ModelSubject.MAX_NAME) + "...";
    }
}
