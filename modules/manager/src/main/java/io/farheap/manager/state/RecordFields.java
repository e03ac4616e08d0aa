package io.farheap.manager.state;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;

/** Lines of {@code key=value}. A value that cannot be read causes an {@link IllegalArgumentException} that says why. */
final class RecordFields {

    private static final HexFormat HEX = HexFormat.of();

    private final Map<String, String> values = new LinkedHashMap<>();

    /** @param value written by its {@code toString} */
    RecordFields put(String key, Object value) {
        values.put(key, value.toString());
        return this;
    }

    byte[] encode() {
        StringBuilder text = new StringBuilder();
        values.forEach((key, value) -> {
            text.append(key).append('=');
            escape(value, text);
            text.append('\n');
        });
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    static RecordFields decode(byte[] bytes) {
        String text;
        try {
            text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException("it is not UTF-8", e);
        }
        RecordFields fields = new RecordFields();
        for (String line : text.split("\n")) {
            int equals = line.indexOf('=');
            if (equals < 0) {
                throw new IllegalArgumentException("the line '" + shown(line) + "' is not key=value");
            }
            String key = line.substring(0, equals);
            if (fields.values.put(key, line.substring(equals + 1)) != null) {
                throw new IllegalArgumentException("it has " + shown(key) + " twice");
            }
        }
        // Values of unknown keys are kept as they are, too: a value is unescaped only when it is read.
        return fields;
    }

    String text(String key) {
        String value = values.get(key);
        if (value == null) {
            throw new IllegalArgumentException("it has no " + key);
        }
        return unescape(key, value);
    }

    /** @param missing the value in records of an earlier release, which do not have the key */
    String text(String key, String missing) {
        return values.containsKey(key) ? text(key) : missing;
    }

    long number(String key) {
        return number(key, text(key));
    }

    long id(String key) {
        return id(key, text(key));
    }

    boolean flag(String key) {
        return flag(key, text(key));
    }

    static boolean flag(String key, String value) {
        return switch (value) {
            case "true" -> true;
            case "false" -> false;
            default ->
                throw new IllegalArgumentException(key + " is '" + shown(value) + "', and must be true or false");
        };
    }

    static long number(String key, String value) {
        try {
            return Long.parseLong(value);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(key + " has '" + shown(value) + "', which is not a number", e);
        }
    }

    static long id(String key, String value) {
        if (value.length() != 16) {
            throw new IllegalArgumentException(key + " has '" + shown(value) + "', and not 16 hexadecimal digits");
        }
        try {
            return HexFormat.fromHexDigitsToLong(value);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(key + " has '" + shown(value) + "', and not 16 hexadecimal digits", e);
        }
    }

    private static void escape(String value, StringBuilder text) {
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '\\') {
                text.append("\\\\");
            } else if (c == '\n') {
                text.append("\\n");
            } else if (Character.isHighSurrogate(c)
                    && i + 1 < value.length()
                    && Character.isLowSurrogate(value.charAt(i + 1))) {
                text.append(c).append(value.charAt(++i));
            } else if (Character.isISOControl(c) || Character.isSurrogate(c)) {
                text.append("\\u").append(HEX.toHexDigits(c));
            } else {
                text.append(c);
            }
        }
    }

    private static String unescape(String key, String value) {
        if (value.indexOf('\\') < 0) {
            return value;
        }
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c != '\\') {
                text.append(c);
                continue;
            }
            switch (++i < value.length() ? value.charAt(i) : ' ') {
                case '\\' -> text.append('\\');
                case 'n' -> text.append('\n');
                case 'u' -> {
                    text.append(escaped(key, value, i + 1));
                    i += 4;
                }
                default -> throw new IllegalArgumentException(key + " has a backslash that nothing known follows");
            }
        }
        return text.toString();
    }

    private static char escaped(String key, String value, int from) {
        try {
            return (char) HexFormat.fromHexDigits(value, from, from + 4);
        } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
            throw new IllegalArgumentException(key + " has \\u without four hexadecimal digits after it", e);
        }
    }

    /** Returns a text as a message shows it. */
    private static String shown(String text) {
        StringBuilder shown = new StringBuilder();
        escape(text.length() > 40 ? text.substring(0, 40) + "..." : text, shown);
        return shown.toString();
    }
}
