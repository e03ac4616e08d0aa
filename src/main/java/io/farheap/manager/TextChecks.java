package io.farheap.manager;

import io.farheap.control.text.PrintableText;

/** Checks of texts that another process chose. */
final class TextChecks {

    private TextChecks() {}

    /**
     * Returns the text.
     *
     * @throws IllegalArgumentException if it is empty, too long, or contains characters that would act on a log or
     *     terminal
     */
    static String require(String what, String text, int most) {
        if (text.isEmpty()) {
            throw new IllegalArgumentException(what + " is missing");
        }
        return PrintableText.require(what, text, most);
    }
}
