import abc
import time


class Device(abc.ABC):
    @abc.abstractmethod
    def read(self) -> int:
        """Returns the measured value."""

    def settle(self) -> None:
        time.sleep(0.3)


class Scale(Device):
    def settle(self) -> None:
        super().settle()

    def read(self) -> int:
        self.settle()
        return 7
