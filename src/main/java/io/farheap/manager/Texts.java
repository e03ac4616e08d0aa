package io.farheap.manager;

import io.farheap.control.text.Printable;

/** Texts that another process chose. */
final class Texts {

    private Texts() {}

    /** @throws IllegalArgumentException where it is empty, too long, or a log would obey some of it */
    static String require(String what, String text, int most) {
        if (text.isEmpty()) {
            throw new IllegalArgumentException(what + " is missing");
        }
        return Printable.require(what, text, most);
    }
}
