package io.farheap.manager;

import io.farheap.control.text.PrintableText;

/** Texts that another process chose. */
final class TextChecks {

    private TextChecks() {}

    /** @throws IllegalArgumentException where it is empty, too long, or a log would obey some of it */
    static String require(String what, String text, int most) {
        if (text.isEmpty()) {
            throw new IllegalArgumentException(what + " is missing");
        }
        return PrintableText.require(what, text, most);
    }
}
