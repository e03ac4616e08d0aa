package io.farheap.verbs;

import org.bytedeco.javacpp.Loader;

/** The functions of {@code native_calls.h} that were written for JNI by hand. */
final class JniCalls {

    static {
        // They are in the library that JavaCPP builds.
        Loader.load(JavacppCalls.class);
    }

    private JniCalls() {}

    static native long empty(long a, long b, long c);

    static native int poll(long completionQueue, int entries, long completions);
}
