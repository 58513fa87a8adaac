from aiohttp import ClientSession, web

from devices import Device, Scale

scale: Device = Scale()


def weigh() -> dict:
    return {"weight": scale.read()}


async def show(request: web.Request) -> web.Response:
    return web.json_response(weigh())


async def work() -> object:
    app = web.Application()
    app.router.add_get("/", show)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0]
    try:
        async with ClientSession() as session, session.get(f"http://{host}:{port}/") as response:
            return await response.json()
    finally:
        await runner.cleanup()
