package io.farheap.control.text;

import java.util.Locale;

/** Makes text that a peer chose safe for a log or a terminal. */
public final class PrintableText {

    private PrintableText() {}

    /** Escapes characters that act on a log or a terminal, and cuts the text after so many characters. */
    public static String escaped(String text, int maxLength) {
        StringBuilder escaped = new StringBuilder();
        int length = Math.min(text.length(), maxLength);
        for (int at = 0, point; at < length; at += Character.charCount(point)) {
            point = text.codePointAt(at);
            if (printable(point)) {
                escaped.appendCodePoint(point);
            } else {
                escaped.append("\\u%04x".formatted(point));
            }
        }
        return length < text.length() ? escaped.append("...").toString() : escaped.toString();
    }

    /**
     * Returns the text.
     *
     * @throws IllegalArgumentException if it is too long, or contains characters that act on a log or a terminal
     */
    public static String require(String what, String text, int maxLength) {
        if (text.length() > maxLength) {
            throw new IllegalArgumentException(
                    what + " of " + text.length() + " characters; it has at most " + maxLength);
        }
        for (int at = 0, point; at < text.length(); at += Character.charCount(point)) {
            point = text.codePointAt(at);
            if (!printable(point)) {
                throw new IllegalArgumentException(String.format(
                        Locale.ROOT, "%s with U+%04X at place %d; use printable characters only", what, point, at));
            }
        }
        return text;
    }

    private static boolean printable(int point) {
        return switch (Character.getType(point)) {
            // FORMAT contains the characters that change the direction of text.
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.SURROGATE -> false;
            default -> true;
        };
    }
}
