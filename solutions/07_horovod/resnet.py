"""A small ResNet for 32 x 32 colour images, for which two cores pay off: 273,658 parameters.

Ten times as wide, with 27,020,650 parameters, it keeps a GPU busy.
"""

import tensorflow as tf

keras = tf.keras


def resnet(width=1):
    """Return 20 layers: three stages of three blocks with 16, 32 and 64 channels, times `width`."""
    inputs = keras.Input((32, 32, 3))
    x = keras.layers.ReLU()(normalised(convolution(inputs, 16 * width)))
    for factor in (1, 1, 1, 2, 2, 2, 4, 4, 4):
        channels = 16 * width * factor
        strides = channels // x.shape[-1]
        path = keras.layers.ReLU()(normalised(convolution(x, channels, 3, strides)))
        path = normalised(convolution(path, channels))
        if strides > 1:
            x = convolution(x, channels, 1, strides)
        x = keras.layers.ReLU()(keras.layers.add([x, path]))
    x = keras.layers.GlobalAveragePooling2D()(x)
    return keras.Model(inputs, keras.layers.Dense(10)(x), name="resnet20")


def convolution(x, channels, size=3, strides=1):
    return keras.layers.Conv2D(channels, size, strides, padding="same", use_bias=False)(x)


def normalised(x):
    return keras.layers.BatchNormalization()(x)
