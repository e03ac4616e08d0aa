package io.farheap.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * What a test class or method needs of the device and the machine. Where it is not there, the test is not run, and is
 * listed with the reason at the end of the run ({@link NotRunReport}).
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(NeedsCondition.class)
public @interface Needs {

    Need[] value() default {};

    /** Bytes that the device must be able to carry in a work request. */
    int inlineBytes() default 0;
}
