package io.farheap.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The needs of a test class or method on the device and the machine. If one is not met, the test is not run, and the
 * end of the run lists it with the reason ({@link NotRunReport}).
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(NeedsCondition.class)
public @interface Needs {

    Need[] value() default {};

    /** Bytes that the device must be able to carry in a work request. */
    int inlineBytes() default 0;
}
